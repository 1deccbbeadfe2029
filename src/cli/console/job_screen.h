#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/console/screen.h"
#include "report/live/live_job.h"
#include "sink/recent/other_gpus.h"
#include "sink/recent/watched_jobs.h"

namespace unstarve::cli {

/// The terminal filled with the jobs that are watched, and the keys that change what is shown.
class JobScreen {
 public:
  /// Seconds of a curve, from the closest on.
  static constexpr std::array<std::int64_t, 5> kZooms = {30, 60, 300, 900, 3600};

  /// `where`: as sink::WatchedJobs takes it. `every_ns`: between two looks.
  JobScreen(const std::string& where, std::int64_t every_ns, Clock& clock);

  /// Looks again where it is time, draws, and waits for a key until the next look, but for
  /// `most_ms` at most. Errors: WatchedJobs::update()'s.
  Status turn(std::int64_t most_ms);
  /// Whether somebody pressed q.
  bool is_left() const { return left_; }

 private:
  void press(char key);
  std::vector<std::string> drawn() const;
  std::vector<std::string> job_lines(int room) const;

  Clock& clock_;
  std::string where_;
  std::int64_t every_ns_;
  sink::WatchedJobs jobs_;
  std::optional<sink::OtherGpus> gpus_;  // where all of this machine is looked at
  std::vector<report::LiveJob> shown_;
  std::vector<report::OtherGpu> others_;
  std::int64_t due_ns_ = 0;
  std::size_t zoom_ = 1;
  std::size_t first_ = 0;  // the job that is shown first
  bool paused_ = false;
  bool left_ = false;
  bool was_pressed_ = false;
  Screen screen_;  // the last member: what was there before is back first
};

/// "no run goes on in runs", and what to do.
std::string nothing_watched(const std::string& where);

}  // namespace unstarve::cli
