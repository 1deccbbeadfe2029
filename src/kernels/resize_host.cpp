#include <algorithm>

#include "kernels/resize.h"

namespace unstarve::kernels {
namespace {

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}  // namespace

void resize_row_plain(const std::uint8_t* row, const AxisPlan& plan, std::uint8_t* out) {
  for (int output = 0; output < plan.count; ++output) {
    const auto index = static_cast<std::size_t>(output);
    const float* weights = &plan.weights[index * static_cast<std::size_t>(plan.max_taps)];
    const std::uint8_t* source = row + std::ptrdiff_t{plan.first[index]} * kChannels;
    for (int channel = 0; channel < kChannels; ++channel) {
      float sum = 0;
      for (int tap = 0; tap < plan.taps[index]; ++tap) {
        sum += weights[tap] * static_cast<float>(source[tap * kChannels + channel]);
      }
      out[output * kChannels + channel] = to_byte(sum);
    }
  }
}

void blend_rows_plain(const RowBlend& blend, std::uint8_t* out) {
  for (int byte = 0; byte < blend.bytes; ++byte) {
    float sum = 0;
    for (int tap = 0; tap < blend.taps; ++tap) {
      sum += blend.weights[tap] * static_cast<float>(blend.rows[tap][byte]);
    }
    out[byte] = to_byte(sum);
  }
}

}  // namespace unstarve::kernels
