#pragma once

#include <cstdint>
#include <deque>

namespace unstarve::recording {

/// Turns CUPTI's times into CLOCK_MONOTONIC. CUPTI stamps by the wall clock, which may be set, or
/// by a clock that another client of CUPTI gave it (PyTorch's profiler gives it the processor's
/// counter, in its own unit). So both clocks are read side by side again and again, and a time is
/// placed between the two readings around it.
/// Thread rule: one thread at a time.
class ClockMatch {
 public:
  /// One reading of theirs between two of ours.
  struct Reading {
    std::int64_t before_ns = 0;
    std::uint64_t theirs = 0;
    std::int64_t after_ns = 0;
  };

  void clear() { points_.clear(); }
  /// The tightest of several readings, `count` at least 1.
  void add(const Reading* readings, std::size_t count);
  bool is_empty() const { return points_.empty(); }

  /// 0 stays 0, "not known" in CUPTI's records.
  std::uint64_t to_ours(std::uint64_t theirs) const;
  /// A bound of how far to_ours() is off at a time between the first and the last point: half of
  /// the widest bracket, and what the clocks' rates changed between points.
  std::int64_t error_ns() const { return error_ns_; }

 private:
  struct Point {
    std::int64_t ours = 0;
    std::uint64_t theirs = 0;
    std::int64_t error_ns = 0;
  };
  static constexpr std::size_t kPointsMax = 512;

  std::deque<Point> points_;  // theirs grows
  std::int64_t error_ns_ = 0;
};

}  // namespace unstarve::recording
