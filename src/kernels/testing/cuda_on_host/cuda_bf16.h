#pragma once

#include <cstdint>

#include "kernels/pixels/half_float.h"

/// As CUDA's: 16 bits.
struct __nv_bfloat16 {
  std::uint16_t bits;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {unstarve::kernels::to_bfloat16(value)};
}
