#include "kernels/pixels/blur.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace unstarve::kernels {
namespace {

std::vector<float> gaussian(int taps, double sigma) {
  const double limit = (taps - 1) / (2.0 * std::sqrt(2.0));
  std::vector<float> weights(static_cast<std::size_t>(taps));
  double sum = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const double place = taps == 1 ? 0.0 : -limit + 2.0 * limit * tap / (taps - 1);
    const double weight = std::exp(-(place / sigma) * (place / sigma));
    weights[static_cast<std::size_t>(tap)] = static_cast<float>(weight);
    sum += weight;
  }
  for (float& weight : weights) weight = static_cast<float>(weight / sum);
  return weights;
}

int mirrored(int place, int size) {
  if (place < 0) return -place;
  return place < size ? place : 2 * (size - 1) - place;
}

/// Adds weight * from to `sums`; the compiler makes SIMD of it.
void add_scaled(const float* from, float weight, std::size_t count, float* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += weight * from[i];
}

/// One row with its mirrored ends, as floats.
void widen_row(const std::uint8_t* row, int width, int margin, float* out) {
  for (int x = -margin; x < width + margin; ++x, out += 3) {
    const std::uint8_t* pixel = row + 3 * mirrored(x, width);
    for (int channel = 0; channel < 3; ++channel) out[channel] = static_cast<float>(pixel[channel]);
  }
}

}  // namespace

void blur_pixels(const Blur& blur, std::uint8_t* pixels, int width, int height,
                 std::vector<float>& memory) {
  const std::vector<float> across = gaussian(blur.taps_across, blur.sigma);
  const std::vector<float> down = gaussian(blur.taps_down, blur.sigma);
  const std::size_t values = 3 * static_cast<std::size_t>(width);
  const int margin = blur.taps_across / 2;
  const std::size_t wide = values + 3 * static_cast<std::size_t>(2 * margin);
  // The rows blurred across, then a row with its ends.
  memory.assign(values * static_cast<std::size_t>(height) + wide, 0.0F);
  float* const rows = memory.data();
  float* const row = rows + values * static_cast<std::size_t>(height);
  const auto row_at = [&](int y) { return rows + values * static_cast<std::size_t>(y); };
  for (int y = 0; y < height; ++y) {
    widen_row(pixels + values * static_cast<std::size_t>(y), width, margin, row);
    for (std::size_t tap = 0; tap < across.size(); ++tap) {
      add_scaled(row + 3 * tap, across[tap], values, row_at(y));
    }
  }
  for (int y = 0; y < height; ++y) {
    std::fill_n(row, values, 0.0F);
    for (int tap = 0; tap < blur.taps_down; ++tap) {
      const int from = mirrored(y + tap - blur.taps_down / 2, height);
      add_scaled(row_at(from), down[static_cast<std::size_t>(tap)], values, row);
    }
    std::uint8_t* out = pixels + values * static_cast<std::size_t>(y);
    for (std::size_t i = 0; i < values; ++i) {
      out[i] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(row[i]), 0.0F, 255.0F));
    }
  }
}

void blur_plane(const BlurTaps& across, const BlurTaps& down, const Plane& plane,
                std::vector<float>& memory) {
  const std::vector<float> weights = gaussian(across.taps, across.sigma);
  const std::vector<float> weights_down = gaussian(down.taps, down.sigma);
  const auto width = static_cast<std::size_t>(plane.width);
  const int margin = across.taps / 2;
  // The rows blurred across, then a row with its ends.
  memory.assign(plane.values.size() + width + 2 * static_cast<std::size_t>(margin), 0.0F);
  float* const row = memory.data() + plane.values.size();
  const auto row_at = [width](float* rows, int y) {
    return rows + width * static_cast<std::size_t>(y);
  };
  for (int y = 0; y < plane.height; ++y) {
    const float* from = row_at(plane.values.data(), y);
    for (int x = -margin; x < plane.width + margin; ++x) {
      row[x + margin] = from[mirrored(x, plane.width)];
    }
    for (std::size_t tap = 0; tap < weights.size(); ++tap) {
      add_scaled(row + tap, weights[tap], width, row_at(memory.data(), y));
    }
  }
  for (int y = 0; y < plane.height; ++y) {
    float* const out = row_at(plane.values.data(), y);
    std::fill_n(out, width, 0.0F);
    for (int tap = 0; tap < down.taps; ++tap) {
      const int from = mirrored(y + tap - down.taps / 2, plane.height);
      add_scaled(row_at(memory.data(), from), weights_down[static_cast<std::size_t>(tap)], width,
                 out);
    }
  }
}

}  // namespace unstarve::kernels
