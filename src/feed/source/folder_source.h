#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"
#include "feed/source/image_folder.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// A folder of images as a data set: each file is one sample, as its bytes.
class FolderSource final : public SampleSource {
 public:
  struct Options {
    ImageFolder::Options folder = {};
    std::int64_t max_file_bytes = std::int64_t{1} << 30;
  };
  /// Errors: see ImageFolder::open().
  static Result<std::shared_ptr<FolderSource>> open(const Options& options,
                                                    std::shared_ptr<io::Files> files);

  std::uint64_t size() const override { return folder_.size(); }
  std::int64_t label(std::uint64_t index) const override { return folder_.label(index); }
  const std::vector<std::string>& classes() const override { return folder_.classes(); }
  std::string locate(std::uint64_t index) const override { return folder_.path(index); }
  std::uint64_t fingerprint() const override { return folder_.fingerprint(); }
  std::vector<std::string> left_out() const override;
  bool has_stamps() const override { return true; }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

 private:
  FolderSource(ImageFolder folder, std::int64_t max_file_bytes, std::shared_ptr<io::Files> files);

  ImageFolder folder_;
  std::int64_t max_file_bytes_;
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
};

}  // namespace unstarve::feed
