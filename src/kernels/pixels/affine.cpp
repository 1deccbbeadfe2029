#include "kernels/pixels/affine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace unstarve::kernels {
namespace {

/// First and last of the numbers of a row's pixels, the last excluded.
struct Run {
  std::int64_t first;
  std::int64_t last;
};

std::int64_t floor_of_ratio(std::int64_t value, std::int64_t divisor) {
  const std::int64_t whole = value / divisor;
  return whole - static_cast<std::int64_t>(value % divisor != 0 && (value < 0) != (divisor < 0));
}

/// Where begin + x * step lies in 0 .. limit - 1.
Run within(std::int64_t begin, std::int64_t step, std::int64_t limit) {
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  if (step == 0) return begin >= 0 && begin < limit ? Run{0, kAny} : Run{0, 0};
  if (step < 0) {
    // The mirrored numbers rise.
    return within(limit - 1 - begin, -step, limit);
  }
  return {-floor_of_ratio(begin, step), floor_of_ratio(limit - 1 - begin, step) + 1};
}

Run both(const Run& first, const Run& second, std::int64_t count) {
  const std::int64_t from = std::clamp<std::int64_t>(std::max(first.first, second.first), 0, count);
  const std::int64_t to = std::clamp<std::int64_t>(std::min(first.last, second.last), from, count);
  return {from, to};
}

/// A map in whole units of 1 / 2^bits of a pixel, for one row after the other.
class Places {
 public:
  Places(const AffineMap& map, int bits, double shift)
      : column_(whole(map.c + map.a * 0.5 + map.b * 0.5 + shift, bits)),
        row_(whole(map.f + map.d * 0.5 + map.e * 0.5 + shift, bits)),
        along_{whole(map.a, bits), whole(map.d, bits)},
        down_{whole(map.b, bits), whole(map.e, bits)} {}

  struct Step {
    std::int64_t column;
    std::int64_t row;
  };

  Step begin(std::int64_t y) const { return {column_ + y * down_.column, row_ + y * down_.row}; }
  const Step& along() const { return along_; }

 private:
  static std::int64_t whole(double value, int bits) {
    return static_cast<std::int64_t>(std::floor(std::ldexp(value, bits) + 0.5));
  }

  std::int64_t column_;
  std::int64_t row_;
  Step along_;
  Step down_;
};

void fill_pixels(const AffineFill& fill, std::uint8_t* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(out + 3 * i, fill.colour.data(), 3);
}

constexpr int kNearestBits = 16;  // Pillow's: the same pixels come out

constexpr int kBlendBits = 32;
constexpr int kWeightBits = 11;  // of 255 values, twice: within 32 bits

int weight_of(std::int64_t place) {
  constexpr std::int64_t kPart = (std::int64_t{1} << kBlendBits) - 1;
  return static_cast<int>((place & kPart) >> (kBlendBits - kWeightBits));
}

struct Source {
  const std::uint8_t* pixels;
  std::int64_t width;
  std::int64_t height;
};

/// Pixels that lie side by side in one row of the input, or anywhere.
void copy_nearest(const Source& in, Places::Step at, const Places::Step& along, std::int64_t count,
                  std::uint8_t* out) {
  const auto pixel_at = [&in](const Places::Step& place) {
    return in.pixels +
           3 * ((place.row >> kNearestBits) * in.width + (place.column >> kNearestBits));
  };
  if (along.row == 0 && along.column == std::int64_t{1} << kNearestBits) {
    std::memcpy(out, pixel_at(at), static_cast<std::size_t>(3 * count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, out += 3) {
    std::memcpy(out, pixel_at(at), 3);
    at.column += along.column;
    at.row += along.row;
  }
}

void blend_pixels(const Source& in, Places::Step at, const Places::Step& along, std::int64_t count,
                  std::uint8_t* out) {
  constexpr int kWhole = 1 << kWeightBits;
  for (std::int64_t i = 0; i < count; ++i, out += 3) {
    const std::int64_t column = at.column >> kBlendBits;
    const std::int64_t row = at.row >> kBlendBits;
    const std::int64_t left = std::max<std::int64_t>(column, 0);
    const std::int64_t right = std::min(column + 1, in.width - 1);
    const std::uint8_t* upper = in.pixels + 3 * in.width * std::max<std::int64_t>(row, 0);
    const std::uint8_t* lower = in.pixels + 3 * in.width * std::min(row + 1, in.height - 1);
    const int across = weight_of(at.column);
    const int down = weight_of(at.row);
    for (int channel = 0; channel < 3; ++channel) {
      const int above =
          upper[3 * left + channel] * (kWhole - across) + upper[3 * right + channel] * across;
      const int under =
          lower[3 * left + channel] * (kWhole - across) + lower[3 * right + channel] * across;
      out[channel] =
          static_cast<std::uint8_t>((above * (kWhole - down) + under * down) >> (2 * kWeightBits));
    }
    at.column += along.column;
    at.row += along.row;
  }
}

/// Of the four pixels around a place: as the cubic of on_cubic(), in whole numbers.
std::array<int, 4> cubic_weights(std::int64_t place) {
  const double share = static_cast<double>(weight_of(place)) / (1 << kWeightBits);
  const double square = share * share;
  const double cube = square * share;
  constexpr double kUnit = 1 << kWeightBits;
  const auto whole = [](double weight) { return static_cast<int>(std::lrint(weight * kUnit)); };
  std::array<int, 4> weights = {whole(-share + 2 * square - cube), 0, whole(share + square - cube),
                                whole(cube - square)};
  weights[1] = (1 << kWeightBits) - weights[0] - weights[2] - weights[3];
  return weights;
}

void blend_cubic(const Source& in, Places::Step at, const Places::Step& along, std::int64_t count,
                 std::uint8_t* out) {
  for (std::int64_t i = 0; i < count; ++i, out += 3) {
    const std::int64_t column = at.column >> kBlendBits;
    const std::int64_t row = at.row >> kBlendBits;
    const std::array<int, 4> across = cubic_weights(at.column);
    const std::array<int, 4> down = cubic_weights(at.row);
    std::array<std::int64_t, 3> sums = {};
    for (std::int64_t y = 0; y < 4; ++y) {
      const std::int64_t line = std::clamp<std::int64_t>(row + y - 1, 0, in.height - 1);
      std::array<int, 3> values = {};
      for (std::int64_t x = 0; x < 4; ++x) {
        const std::int64_t place = std::clamp<std::int64_t>(column + x - 1, 0, in.width - 1);
        const std::uint8_t* pixel = in.pixels + 3 * (in.width * line + place);
        const int weight = across[static_cast<std::size_t>(x)];
        for (std::size_t channel = 0; channel < 3; ++channel) {
          values[channel] += pixel[channel] * weight;
        }
      }
      for (std::size_t channel = 0; channel < 3; ++channel) {
        sums[channel] += std::int64_t{values[channel]} * down[static_cast<std::size_t>(y)];
      }
    }
    for (std::size_t channel = 0; channel < 3; ++channel) {
      out[channel] = static_cast<std::uint8_t>(
          std::clamp<std::int64_t>(sums[channel] >> (2 * kWeightBits), 0, 255));
    }
    at.column += along.column;
    at.row += along.row;
  }
}

}  // namespace

void move_pixels(const AffineMap& map, const AffineFill& fill, const PixelView& in,
                 std::uint8_t* out) {
  const Source source{in.pixels, in.width, in.height};
  const std::int64_t width = in.width;
  const bool blends = fill.between != AffineFill::Between::kNearest;
  const int bits = blends ? kBlendBits : kNearestBits;
  // Between the centres of pixels: half a pixel further up and left.
  const Places places(map, bits, blends ? -0.5 : 0.0);
  const std::int64_t half = blends ? std::int64_t{1} << (bits - 1) : 0;
  const Places::Step& along = places.along();
  for (int y = 0; y < in.height; ++y, out += 3 * width) {
    Places::Step at = places.begin(y);
    const Run run = both(within(at.column + half, along.column, width << bits),
                         within(at.row + half, along.row, source.height << bits), width);
    fill_pixels(fill, out, run.first);
    at.column += run.first * along.column;
    at.row += run.first * along.row;
    const std::int64_t count = run.last - run.first;
    std::uint8_t* first = out + 3 * run.first;
    if (!blends) {
      copy_nearest(source, at, along, count, first);
    } else if (fill.between == AffineFill::Between::kBilinear) {
      blend_pixels(source, at, along, count, first);
    } else {
      blend_cubic(source, at, along, count, first);
    }
    fill_pixels(fill, out + 3 * run.last, width - run.last);
  }
}

}  // namespace unstarve::kernels
