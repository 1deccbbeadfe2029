#include "feed/source/image_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <xxhash.h>

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

// A cycle of symbolic links would otherwise be walked until names get too long.
constexpr int kMaxDepth = 32;

constexpr std::array<std::string_view, 2> kJpegEndings = {".jpg", ".jpeg"};
// The other endings that torchvision's ImageFolder takes for images.
constexpr std::array<std::string_view, 7> kOtherEndings = {".png", ".ppm",  ".bmp", ".pgm",
                                                           ".tif", ".tiff", ".webp"};

template <std::size_t kCount>
bool ends_with_any(std::string_view name, const std::array<std::string_view, kCount>& endings) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return name.size() >= ending.size() &&
           std::equal(ending.begin(), ending.end(), name.end() - std::ptrdiff_t(ending.size()),
                      [&](char b, char a) { return same(a, b); });
  });
}

struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> files;
};

Result<Listing> list(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code no_target;  // a dangling link is neither folder nor file
    const bool is_folder = entry->is_directory(no_target);
    (is_folder ? listing.folders : listing.files).push_back(entry->path().filename().string());
  }
  if (error) return fail_errno(error.value(), fmt::format("cannot list {}", folder.string()));
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

/// The folder itself and all below it, sorted by their whole path as torchvision sorts them.
Status collect_folders(const fs::path& root, const std::string& below, int depth,
                       std::vector<std::pair<std::string, std::vector<std::string>>>& found) {
  if (depth > kMaxDepth) {
    return fail(ErrorCode::kInvalidArgument,
                "{} lies more than {} folders deep: is there a cycle of links?",
                (root / below).string(), kMaxDepth);
  }
  Result<Listing> listing = list(root / below);
  if (!listing) return forward_error(listing);
  found.emplace_back(below, std::move(listing->files));
  for (const std::string& folder : listing->folders) {
    if (Status status = collect_folders(root, below + "/" + folder, depth + 1, found); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace

Result<ImageFolder> ImageFolder::scan(const std::string& root, bool skip_other_formats) {
  ImageFolder folder;
  folder.root_ = root;
  folder.skip_other_formats_ = skip_other_formats;
  const Result<Listing> top = list(root);
  if (!top) return forward_error(top);
  if (top->folders.empty()) {
    if (Status status = folder.add_class("."); !status) return forward_error(status);
  }
  for (const std::string& name : top->folders) {
    if (Status status = folder.add_class(name); !status) return forward_error(status);
  }
  folder.fingerprint_ =
      XXH3_64bits_withSeed(folder.paths_.data(), folder.paths_.size(), folder.labels_.size());
  return folder;
}

Status ImageFolder::add_class(const std::string& folder) {
  const auto label = static_cast<std::int32_t>(classes_.size());
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  if (Status status = collect_folders(root_, folder, 0, found); !status) return status;
  std::sort(found.begin(), found.end());
  const std::size_t before = size();
  for (const auto& [below, files] : found) {
    for (const std::string& name : files) {
      if (ends_with_any(name, kJpegEndings)) {
        add_file(below, name, label);
      } else if (ends_with_any(name, kOtherEndings)) {
        if (!skip_other_formats_) {
          return fail(ErrorCode::kNotSupported,
                      "{}/{}/{} is not a JPEG: convert it, or leave such files out with "
                      "skip_other_formats",
                      root_, below, name);
        }
        ++skipped_;
      }
    }
  }
  if (size() == before) {
    return fail(ErrorCode::kNotFound, "{}/{} holds no .jpg or .jpeg file", root_, folder);
  }
  classes_.push_back(folder);
  return {};
}

void ImageFolder::add_file(const std::string& folder, std::string_view name, std::int32_t label) {
  paths_.append(folder).append("/").append(name);
  ends_.push_back(paths_.size());
  labels_.push_back(label);
}

std::string ImageFolder::path(std::size_t index) const {
  std::string path;
  write_path(index, path);
  return path;
}

void ImageFolder::write_path(std::size_t index, std::string& path) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  path.assign(root_).append("/").append(paths_, begin, ends_[index] - begin);
}

}  // namespace unstarve::feed
