#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace unstarve::observe {

/// One event on two clocks: `at_ns` on the other one lies between two readings of ours.
struct ClockBracket {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::int64_t at_ns = 0;
};

/// our time = its time + offset_ns, give or take error_ns.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

/// The offset that all brackets allow. Where none does, since the clocks drift apart, the one that
/// misses least; the error covers that. Errors: kInvalidArgument without brackets or with one that
/// ends before it begins.
Result<ClockOffset> align_clocks(const std::vector<ClockBracket>& brackets);

}  // namespace unstarve::observe
