#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// Kernels that are not communication, and memsets: what a device has for computing.
inline bool is_compute(trace::DeviceOpKind kind) {
  return kind == trace::DeviceOpKind::kCompute || kind == trace::DeviceOpKind::kMemset;
}

/// An operation without length fills no gap and ends none.
inline bool has_length(const trace::DeviceOp& op) { return op.end_ns > op.start_ns; }

/// How long a device was busy inside a span, in ns. Of the three exclusive times a later one counts
/// only where no earlier one runs (docs/partition.md); their sum is the busy time.
struct DeviceTime {
  std::int64_t compute_ns = 0;  // kernels and memsets
  std::int64_t exposed_communication_ns = 0;
  std::int64_t exposed_copy_ns = 0;
  std::int64_t communication_ns = 0;  // all of it, whatever runs beside it
  std::int64_t copy_ns = 0;           // likewise

  DeviceTime& operator+=(const DeviceTime& other);
  std::int64_t busy_ns() const { return compute_ns + exposed_communication_ns + exposed_copy_ns; }
};

/// Adds up one device's operations, which arrive sorted by start; what lies outside the spans does
/// not count. One pass, so that it can be asked between operations how far the device is busy.
class DeviceTimeSweep {
 public:
  explicit DeviceTimeSweep(const trace::Interval& span);
  /// Disjoint, by start; at least one.
  explicit DeviceTimeSweep(std::vector<trace::Interval> spans);

  void add(const trace::DeviceOp& op);
  /// No operation so far runs beyond it.
  std::int64_t busy_until_ns() const { return all_.end_ns; }
  DeviceTime time() const;

 private:
  /// Length of a union of intervals that arrive sorted by start.
  struct Union {
    std::int64_t end_ns = 0;
    std::int64_t covered_ns = 0;
    void add(std::int64_t from_ns, std::int64_t to_ns);
  };

  void add_piece(trace::DeviceOpKind kind, std::int64_t from_ns, std::int64_t to_ns);

  std::vector<trace::Interval> spans_;
  std::size_t next_ = 0;  // the first span that an operation may still reach
  // What an operation adds to the union of its class and all classes of higher priority is that
  // class's own time, less what the higher classes add later; hence unions that contain each other.
  Union compute_;
  Union with_communication_;
  Union all_;
  Union communication_;
  Union copies_;
};

}  // namespace unstarve::job
