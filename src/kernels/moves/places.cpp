#include "kernels/moves/places.h"

#include <cmath>
#include <cstddef>
#include <cstring>

namespace unstarve::kernels {
namespace {

constexpr int kShareBits = 11;  // of 255 values, twice: within 32 bits
constexpr int kWholeShare = 1 << kShareBits;

struct Place {
  std::int32_t column;
  std::int32_t row;
};

/// In units, rounded down; of a place that kept_near() has kept.
std::int32_t rounded_down(double place, int units) {
  constexpr int kOffset = 4;  // makes it positive, where rounding towards zero is rounding down
  return static_cast<std::int32_t>((place + kOffset) * units) - kOffset * units;
}

const std::uint8_t* pixel_at(const PixelView& in, const Place& place) {
  return in.pixels + 3 * (std::ptrdiff_t{in.width} * place.row + place.column);
}

bool is_inside(const PixelView& in, const Place& place) {
  return place.column >= 0 && place.column < in.width && place.row >= 0 && place.row < in.height;
}

/// The pixel that a place lies in; of two that it lies between, torchvision has the even one.
std::int32_t nearest_place(double place, EdgeRule edges) {
  const std::int32_t below = rounded_down(place, 1);
  return edges != EdgeRule::kPillow && below == place ? below - (below & 1) : below;
}

void copy_nearest(const Projection& projection, const PixelView& in, const PlacesOfRow& places,
                  int count, std::uint8_t* out) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, out += 3) {
    const Place place = {nearest_place(places.columns[i], projection.edges),
                         nearest_place(places.rows[i], projection.edges)};
    const bool inside = is_inside(in, place);
    std::memcpy(out, inside ? pixel_at(in, place) : projection.fill.colour.data(), 3);
  }
}

/// How far a place lies behind the centre of its upper left pixel, in 1 / kWholeShare of a pixel.
struct Shares {
  int across;
  int down;
};

/// All four pixels are there.
void blend_inside(const PixelView& in, const Place& place, const Shares& shares, int rounding,
                  std::uint8_t* out) {
  const std::uint8_t* const upper = pixel_at(in, place);
  const std::uint8_t* const lower = upper + 3 * std::ptrdiff_t{in.width};
  for (int channel = 0; channel < 3; ++channel) {
    const int above =
        upper[channel] * (kWholeShare - shares.across) + upper[channel + 3] * shares.across;
    const int under =
        lower[channel] * (kWholeShare - shares.across) + lower[channel + 3] * shares.across;
    const int sum = above * (kWholeShare - shares.down) + under * shares.down;
    out[channel] = static_cast<std::uint8_t>((sum + rounding) >> (2 * kShareBits));
  }
}

struct Corner {
  Place place;
  int weight;  // kWholeShare * kWholeShare of all four
};

std::array<Corner, 4> corners_of(const Place& place, const Shares& shares) {
  const auto [column, row] = place;
  const int left = kWholeShare - shares.across;
  const int upper = kWholeShare - shares.down;
  return {{{{column, row}, left * upper},
           {{column + 1, row}, shares.across * upper},
           {{column, row + 1}, left * shares.down},
           {{column + 1, row + 1}, shares.across * shares.down}}};
}

/// Of pixels beyond the edge those beside them stand in.
void blend_clamped(const PixelView& in, const std::array<Corner, 4>& corners, std::uint8_t* out) {
  std::array<int, 3> sums = {};
  for (const Corner& corner : corners) {
    const std::uint8_t* const pixel =
        pixel_at(in, {std::clamp(corner.place.column, 0, in.width - 1),
                      std::clamp(corner.place.row, 0, in.height - 1)});
    for (std::size_t channel = 0; channel < 3; ++channel) {
      sums[channel] += pixel[channel] * corner.weight;
    }
  }
  for (std::size_t channel = 0; channel < 3; ++channel) {
    out[channel] = static_cast<std::uint8_t>(sums[channel] >> (2 * kShareBits));
  }
}

/// torchvision blends with zeros first, and then once more with the fill by the same weights.
void blend_filled(const Projection& projection, const PixelView& in,
                  const std::array<Corner, 4>& corners, std::uint8_t* out) {
  constexpr float kUnit = 1.0F / (kWholeShare * kWholeShare);
  std::array<float, 3> sums = {};
  float there = 0;
  for (const Corner& corner : corners) {
    if (!is_inside(in, corner.place)) continue;
    const float weight = static_cast<float>(corner.weight) * kUnit;
    const std::uint8_t* const pixel = pixel_at(in, corner.place);
    for (std::size_t channel = 0; channel < 3; ++channel)
      sums[channel] += static_cast<float>(pixel[channel]) * weight;
    there += weight;
  }
  for (std::size_t channel = 0; channel < 3; ++channel) {
    float value = sums[channel];
    if (projection.edges == EdgeRule::kTorch) {
      const float fill = projection.fill.colour[channel];
      value = (value - fill) * there + fill;
    }
    out[channel] = static_cast<std::uint8_t>(std::nearbyint(std::clamp(value, 0.0F, 255.0F)));
  }
}

void blend_edge(const Projection& projection, const PixelView& in, const Place& place,
                const Shares& shares, std::uint8_t* out) {
  const std::array<Corner, 4> corners = corners_of(place, shares);
  if (projection.edges != EdgeRule::kPillow) return blend_filled(projection, in, corners, out);
  // By the pixel that the place lies in.
  const Place nearest = {place.column + (shares.across >= kWholeShare / 2 ? 1 : 0),
                         place.row + (shares.down >= kWholeShare / 2 ? 1 : 0)};
  if (is_inside(in, nearest)) return blend_clamped(in, corners, out);
  std::memcpy(out, projection.fill.colour.data(), 3);
}

void blend_places(const Projection& projection, const PixelView& in, const PlacesOfRow& places,
                  int count, std::uint8_t* out) {
  const int rounding = projection.edges == EdgeRule::kPillow ? 0 : kWholeShare * kWholeShare / 2;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, out += 3) {
    // Between the centres of pixels: half a pixel further up and left.
    const std::int32_t column = rounded_down(places.columns[i], kWholeShare) - kWholeShare / 2;
    const std::int32_t row = rounded_down(places.rows[i], kWholeShare) - kWholeShare / 2;
    const Place place = {column >> kShareBits, row >> kShareBits};
    const Shares shares = {column & (kWholeShare - 1), row & (kWholeShare - 1)};
    if (is_inside(in, place) && place.column + 1 < in.width && place.row + 1 < in.height) {
      blend_inside(in, place, shares, rounding, out);
    } else {
      blend_edge(projection, in, place, shares, out);
    }
  }
}

}  // namespace

void take_places(const Projection& projection, const PixelView& in, const PlacesOfRow& places,
                 int count, std::uint8_t* out) {
  if (projection.fill.between == AffineFill::Between::kNearest) {
    copy_nearest(projection, in, places, count, out);
  } else {
    blend_places(projection, in, places, count, out);
  }
}

}  // namespace unstarve::kernels
