#include "feed/source/folder_source.h"

#include <utility>

namespace unstarve::feed {

Result<std::shared_ptr<FolderSource>> FolderSource::open(const Options& options,
                                                         std::shared_ptr<io::Files> files) {
  Result<ImageFolder> folder = ImageFolder::open(options.folder);
  if (!folder) return forward_error(folder);
  return std::shared_ptr<FolderSource>(
      new FolderSource(std::move(*folder), options.max_file_bytes, std::move(files)));
}

FolderSource::FolderSource(ImageFolder folder, std::int64_t max_file_bytes,
                           std::shared_ptr<io::Files> files)
    : folder_(std::move(folder)), max_file_bytes_(max_file_bytes), files_(std::move(files)) {}

std::vector<std::string> FolderSource::left_out() const {
  if (folder_.skipped() == 0) return {};
  return {
      fmt::format("images in formats that are not decoded here, left out: {}", folder_.skipped())};
}

Result<std::unique_ptr<SampleReader>> FolderSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<ListedFilesReader<ImageFolder>>(folder_, *files_, max_file_bytes_));
}

}  // namespace unstarve::feed
