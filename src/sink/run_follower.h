#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "sink/sink.h"
#include "trace/run_reader.h"

namespace unstarve::sink {

/// The run that is followed where somebody names `folder`: of a folder of trials the one that the
/// others are compared with.
std::string run_to_follow(const std::string& folder);

/// Hands a run to a sink, portion by portion, while it goes on or afterwards.
///
///   RunFollower follower("runs/2026-05-01_14-03-22_train", sink);
///   while (true) {
///     const auto followed = follower.advance();
///     if (!followed || followed->has_ended) break;
///   }
///
/// Of a folder of trials the verdict is that of all. Thread rule: one thread at a time.
class RunFollower {
 public:
  RunFollower(std::string folder, Sink& sink);

  struct Followed {
    std::int64_t rows = 0;   // that were handed over by this call
    bool has_ended = false;  // the run has, and all of it was handed over
  };
  /// Hands over what has been stored since the last call.
  /// Errors: no run lies there; the sink's.
  Result<Followed> advance();

  /// Hands over the verdict of a run whose end nobody stored: whatever watched it was killed.
  Status give_verdict();

 private:
  Status begin(const trace::RunReader& run);
  Result<std::int64_t> hand_samples(const trace::RunReader& run);
  Result<std::int64_t> hand_steps(const trace::RunReader& run);
  Status end(const trace::RunReader& run);

  std::string folder_;   // as it was given
  std::string run_dir_;  // the run's own
  Sink& sink_;
  bool has_begun_ = false;
  std::int64_t last_sample_ = 0;  // rows of the store, which only grow
  std::int64_t last_step_ = 0;
  std::map<std::int64_t, trace::MetricRow> metrics_;
};

}  // namespace unstarve::sink
