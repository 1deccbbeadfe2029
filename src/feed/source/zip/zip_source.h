#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/data/sample_source.h"
#include "feed/source/zip/zip_directory.h"

namespace unstarve::feed {

/// The images of a zip, read where they lie in it, in the order of their names. A class is a
/// folder, as in torchvision's ImageFolder: the first folder of a name that not all images share.
/// What macOS adds (__MACOSX/) is passed over.
/// Files that are stored are read as fast as those of a tar; deflated ones are inflated each time.
class ZipSource final : public SampleSource {
 public:
  struct Options {
    std::string path = {};
    bool skip_other_formats = false;                      // leave out PPM, ...
    std::int64_t max_file_bytes = std::int64_t{1} << 30;  // of an image
  };
  /// Errors name the zip: what it holds of other formats, damage, encryption.
  static Result<std::shared_ptr<ZipSource>> open(
      const Options& options, std::shared_ptr<io::Files> files = io::plain_files());

  std::uint64_t size() const override { return images_.size(); }
  std::int64_t label(std::uint64_t index) const override { return labels_[index]; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::string locate(std::uint64_t index) const override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<std::string> left_out() const override;
  Result<std::unique_ptr<SampleReader>> open_reader() override;
  bool has_stamps() const override { return true; }

 private:
  ZipSource() = default;
  Status take(std::vector<ZipEntry> entries, const Options& options);
  Status give_labels();

  std::string path_;
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
  FileDescriptor file_;
  std::int64_t max_file_bytes_ = 0;
  std::vector<ZipEntry> images_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> classes_;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace unstarve::feed
