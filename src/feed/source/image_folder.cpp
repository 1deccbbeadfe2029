#include "feed/source/image_folder.h"

#include <malloc.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "feed/formats/image_format.h"
#include "feed/source/folder_walk.h"
#include "feed/source/index_cache.h"

namespace unstarve::feed {
namespace {

/// The folders of a kept index, by their paths.
class IndexedFolders final : public KnownFolders {
 public:
  explicit IndexedFolders(const FolderIndex& index)
      : index_(index), children_(index.folder_count()) {
    for (std::uint32_t i = 0; i < index.folder_count(); ++i) {
      const FolderIndex::Folder folder = index.folder(i);
      places_.emplace(folder.path, i);
      if (i > 0) children_[folder.parent].push_back(i);
    }
  }

  std::int64_t find(const FolderStamp& stamp, ListedFolder& folder) const override {
    const auto place = places_.find(folder.path);
    if (place == places_.end()) return -1;
    const FolderIndex::Folder before = index_.folder(place->second);
    if (!before.trusted || before.stamp != stamp) return -1;
    folder.trusted = true;
    folder.other_count = before.other_count;
    folder.first_other = before.first_other;
    for (const std::uint32_t child : children_[place->second]) {
      const std::string_view path = index_.folder(child).path;
      folder.folders.emplace_back(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
    }
    return place->second;
  }

 private:
  const FolderIndex& index_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
  std::vector<std::vector<std::uint32_t>> children_;
};

/// The same folder by whatever name it is reached.
std::string path_without_links(const std::string& root) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(root.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? root : std::string(real.get());
}

struct Listed {
  FolderIndex index;
  ImageFolder::Origin origin;
};

Result<Listed> list(const ImageFolder::Options& options) {
  const IndexCache cache(options.cache_folder);
  const std::string real_root = path_without_links(options.root);
  std::optional<FolderIndex> kept = cache.load(real_root);
  std::optional<IndexedFolders> known;
  if (kept) known.emplace(*kept);
  Result<std::vector<ListedFolder>> folders = walk_folders(options.root, known ? &*known : nullptr);
  if (!folders) return forward_error(folders);
  ImageFolder::Origin origin;
  for (const ListedFolder& folder : *folders) {
    ++(folder.known_as >= 0 ? origin.folders_known : origin.folders_listed);
  }
  const bool unchanged =
      kept && origin.folders_listed == 0 && origin.folders_known == kept->folder_count();
  if (unchanged) return Listed{std::move(*kept), origin};
  Result<FolderIndex> index =
      FolderIndex::build(std::move(*folders), real_root, kept ? &*kept : nullptr);
  if (!index) return forward_error(index);
  if (index->size() >= options.kept_from_files) {
    if (Status stored = cache.store(real_root, *index); !stored) {
      origin.not_kept = stored.error().message;
    } else if (std::optional<FolderIndex> mapped = cache.load(real_root);
               mapped && mapped->fingerprint() == index->fingerprint()) {
      index = std::move(*mapped);  // so that it need not stay in memory
    }
  }
#ifdef __GLIBC__
  // Listing takes some hundred bytes for a file. What was freed would stay with the process.
  ::malloc_trim(0);
#endif
  return Listed{std::move(*index), std::move(origin)};
}

}  // namespace

Result<ImageFolder> ImageFolder::open(const Options& options) {
  Result<Listed> listed = list(options);
  if (!listed) return forward_error(listed);
  ImageFolder folder(options.root, std::move(listed->index), std::move(listed->origin));
  if (Status status = folder.check_contents(options.skip_other_formats); !status) {
    return forward_error(status);
  }
  folder.index_.unmap();
  return folder;
}

Status ImageFolder::check_contents(bool skip_other_formats) {
  std::vector<std::uint64_t> images(classes().size());
  for (std::uint32_t i = 0; i < index_.folder_count(); ++i) {
    const FolderIndex::Folder folder = index_.folder(i);
    if (folder.other_count > 0 && !skip_other_formats) {
      const std::string between = folder.path.empty() ? "/" : fmt::format("/{}/", folder.path);
      return fail(ErrorCode::kNotSupported,
                  "{}{}{} is of a format that is not decoded here ({} are): convert it, or leave "
                  "such files out with skip_other_formats",
                  root_, between, folder.first_other, image_format_names());
    }
    skipped_ += folder.other_count;
    if (folder.sample_count == 0) continue;
    images[static_cast<std::size_t>(index_.label(folder.first_sample))] += folder.sample_count;
  }
  for (std::size_t label = 0; label < images.size(); ++label) {
    if (images[label] > 0) continue;
    return fail(ErrorCode::kNotFound, "{}/{} holds no image that is decoded here ({})", root_,
                classes()[label], image_format_names());
  }
  return {};
}

std::string ImageFolder::path(std::uint64_t index) const {
  std::string path;
  write_path(index, path);
  return path;
}

void ImageFolder::write_path(std::uint64_t index, std::string& path) const {
  path.assign(root_).append("/");
  index_.append_path(index, path);
}

}  // namespace unstarve::feed
