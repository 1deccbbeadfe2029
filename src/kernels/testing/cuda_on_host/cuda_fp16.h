#pragma once

#include <cstdint>

#include "kernels/pixels/half_float.h"

/// As CUDA's: 16 bits.
struct __half {
  std::uint16_t bits;
};

inline __half __float2half_rn(float value) { return {unstarve::kernels::to_float16(value)}; }
