#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/io/files.h"
#include "feed/pack/pack_input.h"
#include "feed/shard/checksum.h"
#include "feed/source/folder_walk.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 32;
// What torchvision's ImageFolder takes for images.
constexpr std::array<std::string_view, 9> kEndings = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                      ".pgm", ".tif",  ".tiff", ".webp"};

bool is_image(std::string_view name) {
  const auto same = [](char wanted, char c) {
    return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
  };
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return name.size() >= ending.size() &&
           std::equal(ending.begin(), ending.end(), name.end() - std::ptrdiff_t(ending.size()),
                      same);
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
  if (error) return fail_to_list(error.value(), folder.string());
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

class FolderInput final : public PackInput {
 public:
  FolderInput(std::string root, std::shared_ptr<io::Files> files)
      : root_(std::move(root)), files_(std::move(files)) {}

  Status scan() {
    const Result<Listing> top = list(root_);
    if (!top) return forward_error(top);
    if (top->folders.empty()) {
      if (Status status = add_class(""); !status) return status;
    }
    for (const std::string& name : top->folders) {
      if (Status status = add_class(name); !status) return status;
    }
    return {};
  }

  std::uint64_t size() const override { return labels_.size(); }
  std::string_view name(std::uint64_t index) const override {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(names_).substr(begin, ends_[index] - begin);
  }
  std::int32_t label(std::uint64_t index) const override { return labels_[index]; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::uint64_t left_out() const override { return left_out_; }

  std::uint64_t fingerprint() const override {
    ChecksumStream sum;
    sum.add(std::as_bytes(std::span(names_)));
    sum.add(std::as_bytes(std::span(ends_)));
    sum.add(std::as_bytes(std::span(labels_)));
    for (const std::string& name : classes_) {
      // With the zero byte at its end, so that names cannot run into one another.
      sum.add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
    }
    return sum.value();
  }

  Result<std::span<const std::byte>> read(std::uint64_t index,
                                          std::vector<std::byte>& buffer) override {
    const std::string path = fmt::format("{}/{}", root_, name(index));
    Result<std::span<const std::byte>> bytes = read_file(*files_, path, kMaxFileBytes, buffer);
    if (bytes) return bytes;
    Error error = std::move(bytes).error();
    error.message = fmt::format("{}: {}", path, error.message);
    return tl::unexpected<Error>(std::move(error));
  }

 private:
  using Folders = std::vector<std::pair<std::string, std::vector<std::string>>>;

  /// The folder itself and all below it.
  Status collect(const std::string& folder, int depth, Folders& found) {
    if (depth > kMaxFolderDepth) return fail_too_deep(root_ + "/" + folder);
    Result<Listing> listing = list(fs::path(root_) / folder);
    if (!listing) return forward_error(listing);
    found.emplace_back(folder, std::move(listing->files));
    for (const std::string& name : listing->folders) {
      const std::string below = folder.empty() ? name : folder + "/" + name;
      if (Status status = collect(below, depth + 1, found); !status) return status;
    }
    return {};
  }

  Status add_class(const std::string& folder) {
    Folders found;
    if (Status status = collect(folder, 0, found); !status) return status;
    std::sort(found.begin(), found.end());
    const auto label = static_cast<std::int32_t>(classes_.size());
    const std::size_t before = labels_.size();
    for (const auto& [below, names] : found) {
      for (const std::string& name : names) {
        if (is_image(name)) {
          add_file(below, name, label);
        } else {
          ++left_out_;
        }
      }
    }
    if (labels_.size() == before) {
      return fail(ErrorCode::kNotFound, "{} holds no images", (fs::path(root_) / folder).string());
    }
    classes_.push_back(folder.empty() ? "." : folder);
    return {};
  }

  void add_file(const std::string& folder, const std::string& name, std::int32_t label) {
    if (!folder.empty()) names_.append(folder).append("/");
    names_.append(name);
    ends_.push_back(names_.size());
    labels_.push_back(label);
  }

  std::string root_;
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
  std::string names_;                 // one after the other: a million cost tens of megabytes
  std::vector<std::uint64_t> ends_;   // where each ends in names_
  std::vector<std::int32_t> labels_;
  std::vector<std::string> classes_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

Result<std::unique_ptr<PackInput>> open_folder_input(const std::string& root,
                                                     std::shared_ptr<io::Files> files) {
  auto input = std::make_unique<FolderInput>(root, std::move(files));
  if (Status status = input->scan(); !status) return forward_error(status);
  return std::unique_ptr<PackInput>(std::move(input));
}

}  // namespace unstarve::feed
