#include <algorithm>

#include "kernels/cubic/cubic_pass.h"
#include "kernels/resize.h"

namespace unstarve::kernels {
namespace {

/// A sum of samples times weights, rounded; the kernel has negative parts, so it may overshoot.
std::uint8_t to_byte(int sum, int shift) {
  return static_cast<std::uint8_t>(std::clamp((sum + (1 << shift) / 2) >> shift, 0, 255));
}

}  // namespace

void cubic_row_plain(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out) {
  for (int output = 0; output < axis.count; ++output) {
    const auto index = static_cast<std::size_t>(output);
    const std::int16_t* weights = axis.weights_of(output);
    const std::uint8_t* source = row + std::ptrdiff_t{axis.first[index]} * kChannels;
    for (int channel = 0; channel < kChannels; ++channel) {
      int sum = 0;
      for (int tap = 0; tap < axis.taps[index]; ++tap) {
        sum += weights[tap] * source[tap * kChannels + channel];
      }
      out[output * kChannels + channel] = to_byte(sum, axis.shift);
    }
  }
}

void cubic_blend_plain(const CubicBlend& blend, std::uint8_t* out) {
  for (int byte = 0; byte < blend.bytes; ++byte) {
    int sum = 0;
    for (int tap = 0; tap < blend.taps; ++tap) sum += blend.weights[tap] * blend.rows[tap][byte];
    out[byte] = to_byte(sum, blend.shift);
  }
}

}  // namespace unstarve::kernels
