#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/pixels/affine.h"

namespace unstarve::kernels {
namespace {

struct Image {
  const std::uint8_t* pixels;
  int width;
  int height;

  const std::uint8_t* at(int x, int y) const {
    const auto row = static_cast<std::size_t>(std::clamp(y, 0, height - 1));
    const auto column = static_cast<std::size_t>(std::clamp(x, 0, width - 1));
    return pixels + 3 * (row * static_cast<std::size_t>(width) + column);
  }
};

double on_line(double first, double second, double share) {
  return first + (second - first) * share;
}

double on_cubic(const double (&values)[4], double share) {
  const double slope = values[2] - values[0];
  const double square = 2 * (values[0] - values[1]) + values[2] - values[3];
  const double cube = -values[0] + values[1] - values[2] + values[3];
  return values[1] + share * (slope + share * (square + share * cube));
}

/// The value at a place between the centres of pixels, in one channel.
double bilinear_at(const Image& image, double x, double y, int channel) {
  const int column = static_cast<int>(std::floor(x));
  const int row = static_cast<int>(std::floor(y));
  const auto along = [&](int down) {
    const double left = image.at(column, row + down)[channel];
    return on_line(left, image.at(column + 1, row + down)[channel], x - column);
  };
  return on_line(along(0), along(1), y - row);
}

double bicubic_at(const Image& image, double x, double y, int channel) {
  const int column = static_cast<int>(std::floor(x));
  const int row = static_cast<int>(std::floor(y));
  double rows[4];
  for (int down = 0; down < 4; ++down) {
    double values[4];
    for (int right = 0; right < 4; ++right) {
      values[right] = image.at(column + right - 1, row + down - 1)[channel];
    }
    rows[down] = on_cubic(values, x - column);
  }
  return on_cubic(rows, y - row);
}

/// In units of 1/65536, as Pillow has nearest pixels.
std::int64_t fixed(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536 + 0.5));
}

void nearest(const AffineMap& map, const Image& image, std::uint8_t* out) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x, out += 3) {
      const std::int64_t column =
          (fixed(map.c + map.a * 0.5 + map.b * 0.5) + y * fixed(map.b) + x * fixed(map.a)) >> 16;
      const std::int64_t row =
          (fixed(map.f + map.d * 0.5 + map.e * 0.5) + y * fixed(map.e) + x * fixed(map.d)) >> 16;
      if (column < 0 || column >= image.width || row < 0 || row >= image.height) continue;
      std::copy_n(image.at(static_cast<int>(column), static_cast<int>(row)), 3, out);
    }
  }
}

}  // namespace

void move_pixels_plain(const AffineMap& map, const AffineFill& fill, const PixelView& in,
                       std::uint8_t* out) {
  const Image image{in.pixels, in.width, in.height};
  const int width = in.width;
  const int height = in.height;
  const std::ptrdiff_t count = std::ptrdiff_t{width} * height;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    std::copy(fill.colour.begin(), fill.colour.end(), out + 3 * i);
  }
  if (fill.between == AffineFill::Between::kNearest) return nearest(map, image, out);
  const bool cubic = fill.between == AffineFill::Between::kBicubic;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, out += 3) {
      const double column = map.a * (x + 0.5) + map.b * (y + 0.5) + map.c;
      const double row = map.d * (x + 0.5) + map.e * (y + 0.5) + map.f;
      if (column < 0 || column >= width || row < 0 || row >= height) continue;
      for (int channel = 0; channel < 3; ++channel) {
        const double value = cubic ? bicubic_at(image, column - 0.5, row - 0.5, channel)
                                   : bilinear_at(image, column - 0.5, row - 0.5, channel);
        out[channel] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
      }
    }
  }
}

}  // namespace unstarve::kernels
