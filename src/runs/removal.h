#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/host_files.h"
#include "runs/collection.h"

namespace unstarve::runs {

enum class Removing { kPlan, kDo };

/// What goes of a run, or went.
struct Removal {
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  std::vector<std::string> left;  // paths in the folder of what unstarve did not write
  bool folder_goes = false;       // false: something is left in it
};

/// Removes the files that unstarve wrote in the folder of a run, or of runs that belong together,
/// and the folder if nothing else lies there. Never goes through a link: one in the folder is left,
/// as everything that has another name than unstarve gives, or is no regular file.
/// Errors: kInvalidArgument where the folder is a link, no run of ours, or a run of it goes on;
/// kNotSupported where a run there cannot be read; a file that cannot be removed.
Result<Removal> remove_entry(const std::string& folder, Removing how, const host::HostFiles& files);

struct PruneOptions {
  double keep_days = 0;         // runs that began within so many stay; 0: that says nothing
  std::int64_t bytes_most = 0;  // of all runs together; 0: any number
};

/// The entries of a folder that `options` let go: the oldest first, never tagged ones, those that
/// go on, or those with a run that cannot be read. `now_ns`: in ns since 1970.
struct Prunable {
  std::vector<std::string> names;
  std::int64_t bytes_kept = 0;  // of what stays
};
Prunable prunable(const Collection& collection, const PruneOptions& options,
                  const host::HostFiles& files, std::int64_t now_ns);

}  // namespace unstarve::runs
