#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "feed/source/folder_index.h"

namespace unstarve::feed {

/// The list of a folder's images with their labels, in the order of torchvision's ImageFolder:
/// classes are the sorted names of the sub-folders, files are sorted within each, sub-folders of
/// sub-folders are searched, symbolic links followed. A folder without sub-folders is one class.
///
/// The list of a large folder is kept in a file. From then on only the time of each sub-folder is
/// looked at, and those are listed again in which something was added, removed or renamed.
class ImageFolder {
 public:
  struct Options {
    std::string root = {};
    bool skip_other_formats = false;
    std::string cache_folder = {};         // for IndexCache; empty: nothing is kept
    std::uint64_t kept_from_files = 4096;  // shorter lists are made anew each time
  };
  /// How the list came about.
  struct Origin {
    std::uint32_t folders_listed = 0;
    std::uint32_t folders_known = 0;  // taken from the kept list
    std::string not_kept;             // why the list could not be kept, if it should have been
  };

  /// Errors: no such folder, a class without images, no images at all, or images in formats that
  /// are not decoded here unless `skip_other_formats`.
  static Result<ImageFolder> open(const Options& options);

  std::uint64_t size() const { return index_.size(); }
  std::string path(std::uint64_t index) const;
  /// As path(), into a string that keeps its memory.
  void write_path(std::uint64_t index, std::string& path) const;
  std::int64_t label(std::uint64_t index) const { return index_.label(index); }
  const std::vector<std::string>& classes() const { return index_.classes(); }
  /// Image files that were left out for their format.
  std::uint64_t skipped() const { return skipped_; }
  /// A digest of the names and labels; the files' contents are not in it, nor is the root.
  std::uint64_t fingerprint() const { return index_.fingerprint(); }
  const Origin& origin() const { return origin_; }

 private:
  ImageFolder(std::string root, FolderIndex index, Origin origin)
      : root_(std::move(root)), index_(std::move(index)), origin_(std::move(origin)) {}
  Status check_contents(bool skip_other_formats);

  std::string root_;
  FolderIndex index_;
  Origin origin_;
  std::uint64_t skipped_ = 0;
};

}  // namespace unstarve::feed
