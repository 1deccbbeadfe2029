#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host_files.h"
#include "runs/run_summary.h"

namespace unstarve::runs {

/// A folder of runs as it is now.
struct Collection {
  std::string folder;
  std::vector<CollectedRun> runs;  // the one that began last comes first
  std::size_t read_anew = 0;       // of them; the others are as the index has them
};

/// Reads what was changed since the index was written, and writes a new one if anything was. Where
/// that cannot be, as in a folder that nobody may write, all is read each time.
/// Errors: find_runs()'s.
Result<Collection> read_collection(const std::string& folder);

/// A run, or a folder of runs that belong together, as a collection: what `show` shows.
/// Errors: kNotFound where neither lies there.
Result<Collection> read_entry(const std::string& folder);

enum class RunState { kRunning, kKilled, kEnded, kUnreadable };

std::string_view to_string(RunState state);

/// `now_ns`: in ns since 1970. A run without an end goes on as long as its watcher lives. Of a
/// watcher elsewhere, and in runs of earlier versions, that is taken for so while the run's store
/// was changed in the last minute.
RunState state_of(const RunSummary& run, const host::HostFiles& files, std::int64_t now_ns);

/// Whether somebody may still write in the run's folder: it goes on, or whoever watched it is there
/// and may be judging it, or at the next run of a search.
bool is_in_use(const RunSummary& run, const host::HostFiles& files, std::int64_t now_ns);

}  // namespace unstarve::runs
