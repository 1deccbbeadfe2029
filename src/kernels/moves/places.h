#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/moves/perspective.h"

namespace unstarve::kernels {

/// Where so many pixels of a row come from at once: the upper left corner of the input is (0, 0),
/// the centre of its first pixel (0.5, 0.5).
inline constexpr int kPlaces = 256;
struct PlacesOfRow {
  std::array<double, kPlaces> columns;
  std::array<double, kPlaces> rows;
};

/// Outside of an image one place is as good as another: kept near it, a place fits into an int, and
/// one that is no number lies outside.
inline double kept_near(double place, int side) {
  constexpr double kFar = 2;
  return std::min(std::max(-kFar, place), side + kFar);
}

/// Writes what lies at the first `count` of the places, which kept_near() has kept.
void take_places(const Projection& projection, const PixelView& in, const PlacesOfRow& places,
                 int count, std::uint8_t* out);

}  // namespace unstarve::kernels
