#pragma once

#include <string>
#include <vector>

#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// What repeats of one measurement say together.
struct Repeats {
  double best = 0;
  double median = 0;
  double spread_ratio = 0;  // between the quartiles, of the median
  int count = 0;
};

/// Of at least one value, more is better. Empty: all zero.
Repeats summarise(std::vector<double> values);

/// A roof of these repeats; its conditions begin with median and number of repeats.
Roof make_roof(std::string name, std::string unit, const std::vector<double>& values);

}  // namespace unstarve::roofline
