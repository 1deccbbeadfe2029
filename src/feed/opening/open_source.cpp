#include "feed/opening/open_source.h"

#include <utility>

#include "feed/opening/source_kind.h"
#include "feed/source/folder_source.h"
#include "feed/source/index_cache.h"

namespace unstarve::feed {

std::string index_folder_of(const LoaderOptions& options) {
  if (!options.keep_index) return {};
  return options.index_folder.empty() ? IndexCache::default_folder() : options.index_folder;
}

Result<std::shared_ptr<SampleSource>> open_source(const LoaderOptions& options,
                                                  const std::shared_ptr<io::Files>& files) {
  if (options.root.empty()) {
    return fail(ErrorCode::kInvalidArgument, "root is empty: name the folder with the images");
  }
  for (const SourceKind& kind : source_kinds()) {
    if (kind.is_at(options.root)) return kind.open(options, files);
  }
  FolderSource::Options settings;
  settings.folder.root = options.root;
  settings.folder.skip_other_formats = options.skip_other_formats;
  settings.folder.cache_folder = index_folder_of(options);
  settings.max_file_bytes = options.max_file_bytes;
  Result<std::shared_ptr<FolderSource>> folder = FolderSource::open(settings, files);
  if (!folder) return forward_error(folder);
  return std::shared_ptr<SampleSource>(std::move(*folder));
}

}  // namespace unstarve::feed
