#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/host_files.h"
#include "runs/collection.h"

namespace unstarve::runs {

/// Whether runs of one folder are one thing: the stages of a job, or a search, one of whose runs is
/// of the unchanged job.
bool belong_together(const std::vector<const CollectedRun*>& runs);

/// The same of a folder that was read; false for a folder of runs, whatever lies in it.
bool is_one_entry(const Collection& collection);

/// What lies side by side in a folder of runs: a run, or a folder of runs that belong together.
struct Entry {
  std::string name;                       // of its folder
  std::vector<const CollectedRun*> runs;  // the one that began first comes first; never empty
  /// Runs of one id, each a stage of a job; else a search's, which begin with the unchanged job.
  bool has_stages() const { return !runs.front()->summary.stage.empty(); }
};

/// The entry that began last comes first. Lifetime: `collection` outlives them.
std::vector<Entry> entries_of(const Collection& collection);

/// One line of a list.
struct ListedRun {
  const CollectedRun* run = nullptr;
  std::string name;         // the run's, or its group's where it stands for that
  std::size_t of_runs = 1;  // for which it stands
  RunState state = RunState::kEnded;
};

struct ListFilter {
  std::string tag = {};      // empty: any
  bool failed = false;       // only what ended otherwise than well, or was killed
  bool all = false;          // each run of a search, too
  std::int64_t at_most = 0;  // 0: all
};

/// `now_ns`: in ns since 1970.
std::vector<ListedRun> list_runs(const Collection& collection, const ListFilter& filter,
                                 const host::HostFiles& files, std::int64_t now_ns);

}  // namespace unstarve::runs
