#pragma once

#include <string>
#include <vector>

namespace unstarve::report {

/// A straight axis: where a value lies between its ends, and round values to label.
struct Scale {
  double low = 0;
  double high = 1;

  /// 0..1 from end to end; clamped, and 0 for what is not finite.
  double position(double value) const;
  /// The same as an SVG length, "17.35%".
  std::string percent(double value) const;
};

/// Multiples of 1, 2 or 5 times a power of ten inside the scale, about `wanted` of them.
std::vector<double> round_ticks(const Scale& scale, int wanted);

/// A fraction 0..1 as an SVG length.
std::string svg_percent(double fraction);

}  // namespace unstarve::report
