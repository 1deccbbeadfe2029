#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// The list of a folder's JPEG files with their labels, in the order of torchvision's ImageFolder:
/// classes are the sorted names of the sub-folders, files are sorted within each, sub-folders of
/// sub-folders are searched, symbolic links followed. A folder without sub-folders is one class.
///
/// All paths lie in one block of memory: a million files cost tens of megabytes.
class ImageFolder {
 public:
  /// Errors: no such folder, a class without images, no images at all, or images in formats other
  /// than JPEG unless `skip_other_formats`.
  static Result<ImageFolder> scan(const std::string& root, bool skip_other_formats);

  std::size_t size() const { return labels_.size(); }
  std::string path(std::size_t index) const;
  /// As path(), into a string that keeps its memory.
  void write_path(std::size_t index, std::string& path) const;
  std::int64_t label(std::size_t index) const { return labels_[index]; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// Image files that were left out for their format.
  std::size_t skipped() const { return skipped_; }
  /// A digest of the names and labels; the files' contents are not in it, nor is the root.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  Status add_class(const std::string& folder);
  void add_file(const std::string& folder, std::string_view name, std::int32_t label);

  std::string root_;
  bool skip_other_formats_ = false;
  std::size_t skipped_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::vector<std::string> classes_;
  std::string paths_;                // relative to root_, one after the other
  std::vector<std::uint64_t> ends_;  // where each path ends in paths_
  std::vector<std::int32_t> labels_;
};

}  // namespace unstarve::feed
