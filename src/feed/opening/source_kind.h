#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// What a data set may lie in, besides a folder of images.
struct SourceKind {
  std::string name;  // "zip": for messages
  /// Whether this is the way to read what lies at `root`.
  bool (*is_at)(const std::string& root) = nullptr;
  /// `files` reads all that the source reads. Errors name the path.
  Result<std::shared_ptr<SampleSource>> (*open)(const LoaderOptions& options,
                                                const std::shared_ptr<io::Files>& files) = nullptr;
};

/// Every kind there is. A new one is a file in kinds/ that defines `SourceKind NAME_source()`; the
/// build writes this function. What lies at one path is of one kind at most.
std::vector<SourceKind> source_kinds();

/// Where lists of a data set's samples are kept for the next time; empty: nowhere.
std::string index_folder_of(const LoaderOptions& options);

}  // namespace unstarve::feed
