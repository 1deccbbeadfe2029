#include <memory>
#include <string>
#include <utility>

#include "feed/opening/source_kind.h"
#include "feed/source/npy_source.h"

namespace unstarve::feed {

namespace {

bool is_npy(const std::string& root) {
  return root.size() > 4 && root.substr(root.size() - 4) == ".npy";
}

Result<std::shared_ptr<SampleSource>> open_npy(const LoaderOptions& options,
                                               const std::shared_ptr<io::Files>& files) {
  Result<std::shared_ptr<NpySource>> array = NpySource::open(options.root, files);
  if (!array) return forward_error(array);
  return std::shared_ptr<SampleSource>(std::move(*array));
}

}  // namespace

SourceKind npy_source();
SourceKind npy_source() { return {"npy", &is_npy, &open_npy}; }

}  // namespace unstarve::feed
