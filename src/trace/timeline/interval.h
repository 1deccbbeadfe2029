#pragma once

#include <cstdint>

namespace unstarve::trace {

/// A half-open stretch of time [start_ns, end_ns).
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

}  // namespace unstarve::trace
