#pragma once

#include <string>

namespace unstarve::launch {

/// How long real GPUs take where the roofline says 1: what bench/emulated/published.py found for
/// published throughputs that nothing was fitted to (docs/measurements.md).
struct RooflineRange {
  int figures = 27;
  double half_low = 0.92;  // the quartiles
  double half_high = 1.12;
  double all_low = 0.68;
  double all_high = 1.61;
};
inline constexpr RooflineRange kRooflineRange;

/// "a real one takes 0.92 to 1.12 times as long (half of 27 published figures; all: 0.68 to 1.61)".
std::string roofline_range_words();

}  // namespace unstarve::launch
