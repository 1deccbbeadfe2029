#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "sink/sink.h"
#include "trace/run_reader.h"

namespace unstarve::sink {

/// Hands a run to a sink, portion by portion, while it goes on or afterwards.
///
///   auto follower = RunFollower::open("runs/2026-05-01_14-03-22_train");
///   const auto followed = follower->advance(sink);               // what is there by now
///   const auto end = follower->follow(sink, clock, is_stopped);  // and what comes
///
/// Of a folder of trials that run is followed which the others are compared with, and the verdict
/// is that of all. Thread rule: one thread at a time.
class RunFollower {
 public:
  /// Errors: no run lies there.
  static Result<RunFollower> open(const std::string& folder);

  /// Leaves out what was stored before `t_ns` (CLOCK_MONOTONIC), of a run that is long. Before the
  /// first advance().
  Status begin_at(std::int64_t t_ns);

  struct Followed {
    std::int64_t rows = 0;   // that were handed over by this call
    bool has_ended = false;  // the run has, and all of it was handed over
  };
  /// Hands over what has been stored since the last call. All calls are for one sink.
  /// Errors: the run cannot be read; the sink's.
  Result<Followed> advance(Sink& sink);

  /// What watches a run writes ten times a second: of one that is silent for so long it was killed.
  static constexpr std::int64_t kSilenceNs = 10 * kSecondNs;
  enum class End {
    kEnded,    // the run has, and all of it was handed over
    kSilent,   // nothing new was stored for kSilenceNs
    kStopped,  // `is_stopped` was true
  };
  /// advance(), twice a second by `clock`, until one of these.
  Result<End> follow(Sink& sink, Clock& clock, const std::function<bool()>& is_stopped);

  /// Hands over the verdict, if `sink` wants it: of a run whose end nobody stored, since whatever
  /// watched it was killed.
  Status give_verdict(Sink& sink);

 private:
  RunFollower(std::string folder, trace::RunReader run);
  Result<trace::RunReader> run_as_it_is();
  Result<const trace::MetricRow*> metric_of(const trace::RunReader& run, std::int64_t id);
  Status begin(const trace::RunReader& run, Sink& sink);
  /// What is new in each table.
  Result<std::int64_t> hand_new(const trace::RunReader& run, Sink& sink);
  Result<std::int64_t> hand_samples(const trace::RunReader& run, Sink& sink);
  /// Rows of one table behind `last`, which is the last one's then.
  template <class Row>
  static Result<std::int64_t> hand_rows(const trace::RunReader& run, std::int64_t& last,
                                        Sink& sink);

  std::string folder_;                      // as it was given
  std::string run_dir_;                     // the run's own
  std::optional<trace::RunReader> unread_;  // for the first portion
  bool has_begun_ = false;
  /// Rows of the store that were handed over last; their numbers only grow.
  struct Last {
    std::int64_t sample = 0, step = 0, wait = 0, sync = 0, host_work = 0;
  };
  Last last_;
  std::map<std::int64_t, trace::MetricRow> metrics_;
};

}  // namespace unstarve::sink
