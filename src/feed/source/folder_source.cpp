#include "feed/source/folder_source.h"

#include <utility>

namespace unstarve::feed {
namespace {

class FolderReader final : public SampleReader {
 public:
  FolderReader(const ImageFolder& folder, FileReader& files, std::int64_t max_file_bytes)
      : folder_(folder), files_(files), max_file_bytes_(max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    folder_.write_path(index, path_);
    const Result<std::span<const std::byte>> bytes = files_.read(path_, max_file_bytes_, buffer_);
    if (!bytes) return forward_error(bytes);
    return EncodedSample{SampleForm::kFile, *bytes, nullptr};
  }

  ReadHint hint(std::uint64_t index) override {
    folder_.write_path(index, path_);
    return files_.hint(path_);
  }

  Result<FileStamp> stamp(std::uint64_t index) override {
    folder_.write_path(index, path_);
    return files_.stamp(path_);
  }

 private:
  const ImageFolder& folder_;
  FileReader& files_;
  const std::int64_t max_file_bytes_;
  std::string path_;  // both keep their memory from sample to sample
  std::vector<std::byte> buffer_;
};

}  // namespace

Result<std::shared_ptr<FolderSource>> FolderSource::open(const Options& options,
                                                         std::shared_ptr<FileReader> files) {
  Result<ImageFolder> folder = ImageFolder::open(options.folder);
  if (!folder) return forward_error(folder);
  return std::shared_ptr<FolderSource>(
      new FolderSource(std::move(*folder), options.max_file_bytes, std::move(files)));
}

FolderSource::FolderSource(ImageFolder folder, std::int64_t max_file_bytes,
                           std::shared_ptr<FileReader> files)
    : folder_(std::move(folder)), max_file_bytes_(max_file_bytes), files_(std::move(files)) {}

Result<std::unique_ptr<SampleReader>> FolderSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<FolderReader>(folder_, *files_, max_file_bytes_));
}

}  // namespace unstarve::feed
