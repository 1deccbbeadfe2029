#pragma once

#include <cstdint>
#include <vector>

#include "kernels/axis_plan.h"

namespace unstarve::kernels {

/// One axis of an antialiased bicubic resize (Keys' kernel with a = -0.5, as Pillow and torch have
/// it): which source samples make each output, and with which 16-bit weight. Weights and their
/// precision are torch's for uint8, so that results are equal to the bit.
struct CubicAxis {
  int source_first = 0;  // the span of the source that any output touches; `first` counts from here
  int source_count = 0;
  int count = 0;                      // outputs
  int stride = 0;                     // row length of the weights, even
  int shift = 0;                      // 1.0 is 1 << shift
  std::vector<int> first;             // per output: first source sample, from source_first
  std::vector<int> taps;              // per output: how many samples
  std::vector<std::int16_t> weights;  // [count][stride], zeros past the taps

  const std::int16_t* weights_of(int output) const {
    return &weights[static_cast<std::size_t>(output) * static_cast<std::size_t>(stride)];
  }
};

/// Fills `axis`, reusing its memory. The request must be sane, as for plan_axis().
void plan_cubic(const AxisRequest& request, CubicAxis& axis);

}  // namespace unstarve::kernels
