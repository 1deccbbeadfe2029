#pragma once

#include <cstdint>
#include <vector>

#include "kernels/aligned_bytes.h"
#include "kernels/axis_plan.h"

namespace unstarve::kernels {

/// How an instruction set looks bytes up: each lane of 32 bits takes two samples of one channel out
/// of a window of consecutive bytes that it shares with its neighbours.
struct WindowShape {
  int unit_lanes = 0;    // lanes of a vector, a power of two; 0: no such instructions
  int window_lanes = 0;  // lanes that share a window, a power of two
  int window_bytes = 0;
};

/// Vectors of lanes that are narrowed to bytes and stored together.
inline constexpr int kWindowUnits = 4;

/// The horizontal pass of one image as vector instructions take it. Lane i makes output byte i: it
/// sums up pairs of neighbouring samples, found at offset lookup[i] of its window, with weights in
/// 16 bits. Keeps its memory from image to image.
struct WindowTable {
  WindowShape shape;
  int steps = 0;            // of kWindowUnits vectors each
  int pairs = 0;            // of samples per lane
  int shift = 0;            // a weight of 1 is 1 << shift
  bool one_window = false;  // the first pair's windows hold the samples of all pairs
  std::vector<int> starts;  // per window: its first byte, from the row's start
  AlignedBytes lookup_memory;
  AlignedBytes weights_memory;
  std::uint32_t* lookup = nullptr;   // per lane, see plan_windows()
  std::uint32_t* weights = nullptr;  // [vector][pair][lane], two weights of 16 bits

  /// False when an output's samples lie too far apart for a window: use another pass.
  bool plan(const AxisPlan& axis, const WindowShape& use);

 private:
  void set_lanes(const AxisPlan& axis, int output, int first_sample);
  bool set_starts(const AxisPlan& axis);
  std::vector<std::uint32_t> pair_weights_;
  int unit_shift_ = 0;  // lanes are divided by these powers of two
  int window_shift_ = 0;
};

}  // namespace unstarve::kernels
