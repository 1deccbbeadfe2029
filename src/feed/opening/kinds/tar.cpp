#include <memory>
#include <string>
#include <utility>

#include "feed/opening/source_kind.h"
#include "feed/source/tar_source.h"

namespace unstarve::feed {

namespace {

Result<std::shared_ptr<SampleSource>> open_tars(const LoaderOptions& options,
                                                const std::shared_ptr<io::Files>& files) {
  TarSource::Options settings;
  settings.path = options.root;
  settings.skip_other_formats = options.skip_other_formats;
  settings.max_file_bytes = options.max_file_bytes;
  settings.cache_folder = index_folder_of(options);
  // The sample at the cut then fails by name, as any broken one does.
  settings.accept_cut = options.on_error != OnError::kRaise;
  Result<std::shared_ptr<TarSource>> tars = TarSource::open(settings, files);
  if (!tars) return forward_error(tars);
  return std::shared_ptr<SampleSource>(std::move(*tars));
}

}  // namespace

SourceKind tar_source();
SourceKind tar_source() { return {"tar", &TarSource::is_tars, &open_tars}; }

}  // namespace unstarve::feed
