#include <memory>
#include <string>
#include <utility>

#include "feed/opening/source_kind.h"
#include "feed/source/zip/zip_source.h"

namespace unstarve::feed {

namespace {

bool is_zip(const std::string& root) {
  return root.size() > 4 && root.substr(root.size() - 4) == ".zip";
}

Result<std::shared_ptr<SampleSource>> open_zip(const LoaderOptions& options,
                                               const std::shared_ptr<io::Files>& files) {
  ZipSource::Options settings;
  settings.path = options.root;
  settings.skip_other_formats = options.skip_other_formats;
  settings.max_file_bytes = options.max_file_bytes;
  Result<std::shared_ptr<ZipSource>> zip = ZipSource::open(settings, files);
  if (!zip) return forward_error(zip);
  return std::shared_ptr<SampleSource>(std::move(*zip));
}

}  // namespace

SourceKind zip_source();
SourceKind zip_source() { return {"zip", &is_zip, &open_zip}; }

}  // namespace unstarve::feed
