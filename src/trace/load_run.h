#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/events/events_layout.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

/// A run as a Timeline, and in words what of it could not be read.
struct LoadedRun {
  Timeline timeline;
  std::vector<std::string> remarks;
  bool rings_missing = false;  // processes of the job could not record; the remarks say why
};

/// Reads a run directory (or its run.sqlite): the store, the events, and, where whatever watched
/// the job was killed, what is left in the rings. Damage costs what lies behind it and becomes a
/// remark; an error is only what leaves nothing to read. Where there are more events than
/// `events_max`, the recording ends with the chunk that reaches it.
Result<LoadedRun> load_run_with_remarks(const std::string& path,
                                        std::uint64_t events_max = kEventsReadMax);

/// The same without the remarks.
Result<Timeline> load_run(const std::string& path);

}  // namespace unstarve::trace
