#pragma once

#include <memory>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// Opens what `options.root` names as a data set: a shard or a folder of shards; a tar, a folder of
/// tars or a pattern that ends in .tar; an .npy file; else a folder of images. `files` reads the
/// files of sources that have one per sample. Errors name the path.
Result<std::shared_ptr<SampleSource>> open_source(const LoaderOptions& options,
                                                  const std::shared_ptr<io::Files>& files);

}  // namespace unstarve::feed
