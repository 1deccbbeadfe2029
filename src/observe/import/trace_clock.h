#pragma once

#include <cstdint>
#include <optional>

#include "observe/import/decimal.h"

namespace unstarve::observe {

/// Turns a trace's times into nanoseconds without loss. The unit is known only after all events
/// have been seen (`displayTimeUnit` is about display and says "ns" in traces in microseconds), so
/// times are first kept raw: thousandths of the unit since the first event.
class TraceClock {
 public:
  /// Raw time of a `ts`; nothing when it is too far from the others to be one.
  std::optional<std::int64_t> raw_time(const Decimal& time);
  /// Raw length of a `dur`; nothing when negative or absurd.
  std::optional<std::int64_t> raw_duration(const Decimal& duration);

  /// Evidence: a device operation of this raw length.
  void note_operation(std::int64_t raw_duration);
  /// Evidence: a copy of `bytes` for which the trace gives a bandwidth. bytes / (GB/s) are ns.
  void note_copy(std::int64_t bytes, double gigabytes_per_s, std::int64_t raw_duration);

  /// Evidence: a call of the runtime of this raw length.
  void note_call(std::int64_t raw_duration);

  /// What the evidence says: a date in nanoseconds, else the copies' bandwidths, else fractions and
  /// dates in microseconds, or a call that in nanoseconds would be shorter than one can be, else
  /// operations that in microseconds would all be longer than the shortest of many is.
  bool is_in_nanoseconds() const;
  /// The time a raw one stands for, in the trace's own clock.
  std::int64_t nanoseconds(std::int64_t raw) const;

 private:
  std::optional<std::int64_t> origin_;  // whole part of the first time
  bool fractions_seen_ = false;
  std::int64_t copies_in_ns_ = 0;
  std::int64_t copies_in_us_ = 0;
  std::int64_t operations_ = 0;
  std::int64_t shortest_operation_ = 0;
  bool has_short_call_ = false;
};

}  // namespace unstarve::observe
