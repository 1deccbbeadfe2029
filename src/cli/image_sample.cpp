#include "cli/image_sample.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "feed/pipeline/loader_parts.h"
#include "feed/pipeline/open_source.h"

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

}  // namespace

Result<ImageSample> link_some_images(const std::string& image_folder, const std::string& folder,
                                     const SampleBounds& bounds) {
  feed::LoaderOptions options;
  options.root = image_folder;
  const auto source = feed::open_source(options, feed::LoaderParts::real().reader);
  if (!source) return forward_error(source);
  const std::uint64_t size = (*source)->size();
  const std::uint64_t wanted = std::min(bounds.images, size);
  ImageSample sample;
  std::error_code failed;
  for (std::uint64_t i = 0; i < wanted && sample.bytes < bounds.bytes; ++i) {
    const std::uint64_t index = i * size / wanted;
    const fs::path image = fs::absolute((*source)->locate(index));
    const fs::path class_folder = fs::path(folder) / fmt::format("{:06d}", (*source)->label(index));
    fs::create_directories(class_folder, failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot make the folder {}", folder));
    fs::create_symlink(
        image, class_folder / (fmt::format("{:08d}", i) + image.extension().string()), failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot link {}", image.string()));
    sample.bytes += fs::file_size(image, failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot read {}", image.string()));
    ++sample.images;
  }
  return sample;
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (failed) return fail_errno(failed.value(), "cannot find a folder for temporary files");
  std::string path = (parent / "unstarve-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail_errno(errno, fmt::format("cannot make a folder in {}", parent.string()));
  }
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace unstarve::cli
