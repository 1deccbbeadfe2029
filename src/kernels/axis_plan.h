#pragma once

#include <cstdint>
#include <vector>

namespace unstarve::kernels {

/// One axis of an antialiased bilinear resize, of which only a window of the outputs is wanted.
struct AxisRequest {
  int source_size = 0;    // samples before
  int target_size = 0;    // samples after, of the whole axis
  int window_first = 0;   // first output wanted
  int window_count = 0;   // outputs wanted
  bool reversed = false;  // hand the window out back to front (a flip)
};

/// Which source samples make each output, and with which weight: a triangle as wide as the step
/// between outputs, or two samples when enlarging. The same sums as Pillow and torchvision take.
struct AxisPlan {
  int source_first = 0;  // the span of the source that any output touches; `first` counts from here
  int source_count = 0;
  int count = 0;                             // outputs
  int max_taps = 0;                          // row length of the weight tables
  std::vector<int> first;                    // per output: first source sample, from source_first
  std::vector<int> taps;                     // per output: how many samples
  std::vector<float> weights;                // [count][max_taps]
  std::vector<std::uint16_t> fixed_weights;  // see fix_weights()
};

/// Fills `plan`, reusing its memory. The request must be sane: sizes above zero, the window inside
/// the target.
void plan_axis(const AxisRequest& request, AxisPlan& plan);
/// Fills plan.fixed_weights, for those who need them: 1.0 = 65536, a lone tap 65535.
void fix_weights(AxisPlan& plan);

}  // namespace unstarve::kernels
