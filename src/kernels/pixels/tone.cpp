#include "kernels/pixels/tone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace unstarve::kernels {
namespace {

constexpr std::size_t kValues = 256;
using Curve = std::array<std::uint8_t, kValues>;
using Histogram = std::array<std::uint32_t, kValues>;

template <typename Function>
Curve curve_of(Function function) {
  Curve curve;
  for (std::size_t value = 0; value < kValues; ++value) {
    curve[value] = static_cast<std::uint8_t>(function(static_cast<int>(value)));
  }
  return curve;
}

/// Counts in turn in two tables: values that follow each other are often the same, and a count
/// that has just been written takes long to be read.
std::array<Histogram, 3> histograms(const std::uint8_t* pixels, std::size_t count) {
  std::array<std::array<Histogram, 3>, 2> counts = {};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      ++counts[i % 2][channel][pixels[3 * i + channel]];
    }
  }
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t value = 0; value < kValues; ++value) {
      counts[0][channel][value] += counts[1][channel][value];
    }
  }
  return counts[0];
}

Curve same() {
  return curve_of([](int value) { return value; });
}

Curve stretched(const Histogram& counts) {
  const auto is_there = [](std::uint32_t count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), is_there);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_there);
  const auto low = static_cast<float>(first - counts.begin());
  const auto high = static_cast<float>(counts.rend() - last - 1);
  if (low == high) return same();
  const float range = (high - low) * static_cast<float>(1.0 / 255);
  return curve_of([&](int value) {
    return std::clamp((static_cast<float>(value) - low) / range, 0.0F, 255.0F);
  });
}

/// As Pillow: the most frequent of the largest values aside, 255 steps of as many pixels each.
Curve equalized(const Histogram& counts, std::size_t count) {
  const auto last =
      std::find_if(counts.rbegin(), counts.rend(), [](std::uint32_t n) { return n > 0; });
  const std::size_t step = (count - *last) / 255;
  if (step == 0) return same();
  Curve curve;
  std::size_t below = step / 2;
  for (std::size_t value = 0; value < kValues; ++value) {
    curve[value] = static_cast<std::uint8_t>(std::min<std::size_t>(below / step, 255));
    below += counts[value];
  }
  return curve;
}

void exchange(const std::array<Curve, 3>& curves, std::uint8_t* pixels, std::size_t count) {
  for (std::uint8_t* pixel = pixels; pixel != pixels + 3 * count; pixel += 3) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      pixel[channel] = curves[channel][pixel[channel]];
    }
  }
}

/// The smoothed value, rounded, as torchvision rounds it before it blends.
float smoothed(int sum) { return std::nearbyint(static_cast<float>(sum) * (1.0F / 13.0F)); }

/// A row and its neighbours, as they were.
struct Rows {
  const std::uint8_t* above;
  const std::uint8_t* here;
  const std::uint8_t* below;
};

/// One row but its ends.
void sharpen_row(const Rows& rows, int bytes, float smoothing, std::uint8_t* out) {
  const auto [above, here, below] = rows;
  for (int i = 3; i < bytes - 3; ++i) {
    const int sum = above[i - 3] + above[i] + above[i + 3] + here[i - 3] + 5 * here[i] +
                    here[i + 3] + below[i - 3] + below[i] + below[i + 3];
    const auto value = static_cast<float>(here[i]);
    const float blended = std::fma(smoothed(sum) - value, smoothing, value);
    out[i] = static_cast<std::uint8_t>(std::clamp(blended, 0.0F, 255.0F));
  }
}

}  // namespace

void adjust_tone(ToneOp op, double value, std::uint8_t* pixels, std::size_t count) {
  if (count == 0) return;
  std::array<Curve, 3> curves;
  if (op == ToneOp::kPosterize) {
    const int bits = std::clamp(static_cast<int>(value), 0, 8);
    curves.fill(curve_of([bits](int byte) { return byte & (0xFF << (8 - bits)); }));
  } else if (op == ToneOp::kSolarize) {
    curves.fill(curve_of([value](int byte) { return byte >= value ? 255 - byte : byte; }));
  } else if (op == ToneOp::kSolarizeAdd) {
    const int added = static_cast<int>(value);
    curves.fill(curve_of(
        [added](int byte) { return byte < 128 ? std::clamp(byte + added, 0, 255) : byte; }));
  } else if (op == ToneOp::kInvert) {
    curves.fill(curve_of([](int byte) { return 255 - byte; }));
  } else {
    const std::array<Histogram, 3> counts = histograms(pixels, count);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      curves[channel] =
          op == ToneOp::kEqualize ? equalized(counts[channel], count) : stretched(counts[channel]);
    }
  }
  exchange(curves, pixels, count);
}

void adjust_sharpness(double factor, std::uint8_t* pixels, int width, int height,
                      std::vector<std::uint8_t>& rows) {
  if (width <= 2 || height <= 2) return;
  const std::size_t bytes = 3 * static_cast<std::size_t>(width);
  rows.resize(2 * bytes);
  // The rows above and here as they were: what has been sharpened already stands in the image.
  std::uint8_t* above = rows.data();
  std::uint8_t* here = above + bytes;
  std::memcpy(above, pixels, bytes);
  for (int y = 1; y < height - 1; ++y) {
    std::uint8_t* row = pixels + static_cast<std::size_t>(y) * bytes;
    std::memcpy(here, row, bytes);
    sharpen_row({above, here, row + bytes}, 3 * width, static_cast<float>(1.0 - factor), row);
    std::swap(above, here);
  }
}

}  // namespace unstarve::kernels
