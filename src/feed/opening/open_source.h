#pragma once

#include <memory>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// Opens what `options.root` names as a data set: of the kinds in kinds/ the one that it is
/// (shards, tars, a zip, an array), else a folder of images. `files` reads all that the source
/// reads. Errors name the path.
Result<std::shared_ptr<SampleSource>> open_source(const LoaderOptions& options,
                                                  const std::shared_ptr<io::Files>& files);

}  // namespace unstarve::feed
