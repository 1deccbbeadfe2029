#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "sink/recent/watched_jobs.h"

namespace unstarve::cli {

/// Writes RUN/tracked.json every ten seconds of a run, for the hook, which logs it into the job's
/// own tracker. What cannot be read or written is left for the next time.
class TrackedValues {
 public:
  TrackedValues(const std::string& run_dir, Clock& clock);
  /// Often: writes where it is time.
  void tick();

 private:
  Clock& clock_;
  std::string path_;
  sink::WatchedJobs jobs_;
  std::int64_t due_ns_;
};

}  // namespace unstarve::cli
