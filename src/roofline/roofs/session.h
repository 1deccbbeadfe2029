#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// What measurements are given: a clock, how long each may take, whether somebody asked to stop,
/// and where their results go.
///
///   Session session(clock, {.stopped = [] { return false; }});
///   session.add(make_roof("memory.copy.1_threads", "bytes/s", rates));
///
/// Thread rule: one thread, the one that measures. The clock outlives it.
class Session {
 public:
  struct Calls {
    std::function<bool()> stopped;                  // polled every tenth of a second or so
    std::function<void(const std::string&)> doing;  // what is measured now
  };
  Session(Clock& clock, Calls calls) : clock_(clock), calls_(std::move(calls)) {}

  Clock& clock() { return clock_; }
  bool stopped() const { return calls_.stopped && calls_.stopped(); }
  void doing(const std::string& activity) const {
    if (calls_.doing) calls_.doing(activity);
  }
  /// Sleeps for so long, or until somebody asks to stop.
  void sleep_ns(std::int64_t duration_ns);

  /// One whose value is no number above 0 was not measured, and none is kept.
  void add(Roof roof);
  /// The same where the value cannot be above `spec` of the same unit, since no such machine can do
  /// that: then what was measured is wrong, and the roof is absent. `spec` goes to the conditions.
  void add_below(Roof roof, double spec, const std::string& spec_source);
  void lacks(std::string name, std::string reason);
  /// Of the machine while it was measured; each is said once.
  void note(std::string text);

  /// To each roof from the `first` on, counted as result().roofs has them.
  void add_condition(std::size_t first, const std::string& name, const Condition& value);

  const MachineRoofs& result() const { return result_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Clock& clock_;
  Calls calls_;
  MachineRoofs result_;
  std::vector<std::string> notes_;
};

}  // namespace unstarve::roofline
