#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "feed/cache/cached_source.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/pipeline/loader_parts.h"

namespace unstarve::feed {

/// A source, and the cache before it if there is one.
struct SourceWithCache {
  std::shared_ptr<SampleSource> source;
  std::shared_ptr<CachedSource> cache;  // the source itself, or none
  std::string no_cache;                 // why none, where one was asked for
};

/// Puts the cache that the options ask for before `source`. A full disk is no error.
Result<SourceWithCache> with_cache(std::shared_ptr<SampleSource> source,
                                   const LoaderOptions& options, const LoaderParts& parts);

}  // namespace unstarve::feed
