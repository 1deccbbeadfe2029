#include "feed/pipeline/open_source.h"

#include "base/io/files.h"
#include "feed/shard/shard_source.h"
#include "feed/source/folder_source.h"
#include "feed/source/index_cache.h"
#include "feed/source/npy_source.h"
#include "feed/source/tar_source.h"

namespace unstarve::feed {

Result<std::shared_ptr<SampleSource>> open_source(const LoaderOptions& options,
                                                  const std::shared_ptr<io::Files>& files) {
  if (options.root.empty()) {
    return fail(ErrorCode::kInvalidArgument, "root is empty: name the folder with the images");
  }
  if (ShardSource::is_shards(options.root)) {
    Result<std::unique_ptr<ShardSource>> shards = ShardSource::open(options.root);
    if (!shards) return forward_error(shards);
    if (!(*shards)->finished()) {
      // Some of its samples may be missing, and an epoch would silently be shorter.
      return fail(ErrorCode::kCorruptData,
                  "{} is cut off, or its packing was interrupted, after {} samples: pack again, or "
                  "take these out with `unstarve unpack`",
                  options.root, (*shards)->size());
    }
    return std::shared_ptr<SampleSource>(std::move(*shards));
  }
  if (options.root.size() > 4 && options.root.substr(options.root.size() - 4) == ".npy") {
    Result<std::shared_ptr<NpySource>> array = NpySource::open(options.root, files);
    if (!array) return forward_error(array);
    return std::shared_ptr<SampleSource>(std::move(*array));
  }
  std::string index_folder;
  if (options.keep_index) {
    index_folder =
        options.index_folder.empty() ? IndexCache::default_folder() : options.index_folder;
  }
  if (TarSource::is_tars(options.root)) {
    TarSource::Options settings;
    settings.path = options.root;
    settings.skip_other_formats = options.skip_other_formats;
    settings.max_file_bytes = options.max_file_bytes;
    settings.cache_folder = index_folder;
    // The sample at the cut then fails by name, as any broken one does.
    settings.accept_cut = options.on_error != OnError::kRaise;
    Result<std::shared_ptr<TarSource>> tars = TarSource::open(settings, files);
    if (!tars) return forward_error(tars);
    return std::shared_ptr<SampleSource>(std::move(*tars));
  }
  FolderSource::Options settings;
  settings.folder.root = options.root;
  settings.folder.skip_other_formats = options.skip_other_formats;
  settings.folder.cache_folder = std::move(index_folder);
  settings.max_file_bytes = options.max_file_bytes;
  Result<std::shared_ptr<FolderSource>> folder = FolderSource::open(settings, files);
  if (!folder) return forward_error(folder);
  return std::shared_ptr<SampleSource>(std::move(*folder));
}

}  // namespace unstarve::feed
