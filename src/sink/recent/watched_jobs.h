#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "report/live/live_job.h"
#include "sink/recent/recent_job.h"
#include "sink/run_follower.h"

namespace unstarve::sink {

/// The jobs that are watched now, each followed from when it is found.
///
///   WatchedJobs jobs("runs", clock);
///   jobs.update();
///   const std::vector<report::LiveJob> now = jobs.look(60, 0);
///
/// Thread rule: one thread at a time.
class WatchedJobs {
 public:
  /// `where`: a run, or a folder of runs; empty: all that are watched on this machine.
  WatchedJobs(std::string where, Clock& clock) : where_(std::move(where)), clock_(clock) {}

  /// Finds runs that are new, and reads what is new of each. Errors: runs::read_collection()'s.
  Status update();
  /// Reads what is new of those that were found: of a folder of many runs much cheaper.
  void read();
  /// With curves of `curve_s` seconds; `idle_minutes`: 0, or how long one idles that is idle.
  std::vector<report::LiveJob> look(std::int64_t curve_s, double idle_minutes) const;
  /// Those that have ended are looked at no longer.
  void forget_ended();

 private:
  struct Followed {
    std::string run_dir;
    std::unique_ptr<RunFollower> follower;
    std::unique_ptr<RecentJob> recent;
    bool has_ended = false;
  };
  Result<std::vector<std::string>> find() const;
  void add(const std::string& folder);
  static void read_one(Followed& one);

  std::string where_;
  Clock& clock_;
  std::vector<Followed> jobs_;
};

}  // namespace unstarve::sink
