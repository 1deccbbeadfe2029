#pragma once

#include <string>
#include <vector>

#include "roofline/position/position.h"

namespace unstarve::report {

/// One flat roof of a roofline, and where the memory's slope meets it.
struct Plateau {
  std::string dtype;
  roofline::UsedRoof roof;
  double ridge = 0;  // flop a byte
};

/// What a roofline shows: powers of ten at the ends of both axes.
struct RooflineAxes {
  std::vector<Plateau> plateaus;  // highest first; none: there is nothing to plot
  double bytes_per_s = 0;         // of the memory: the slope
  double low_x = 0, high_x = 0;   // flop a byte
  double low_y = 0, high_y = 0;   // flop a second

  double x(double flop_per_byte) const;  // 0..1, of the logarithm; clamped
  double y(double flop_per_s) const;
};

/// The roofs of the dtypes that the job's products have; where none were counted all that are
/// known, at most `most`.
RooflineAxes roofline_axes(const roofline::Position& position, std::size_t most);

}  // namespace unstarve::report
