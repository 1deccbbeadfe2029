#include "kernels/moves/perspective.h"

#include <algorithm>
#include <cstddef>

#include "kernels/moves/places.h"

namespace unstarve::kernels {
namespace {

struct Pixel {
  int column;
  int row;
};

/// Of `count` pixels of a row from `begin` on.
void find_places(const PerspectiveMap& map, const Pixel& begin, int count, const PixelView& in,
                 PlacesOfRow& places) {
  const double y = begin.row + 0.5;
  for (int i = 0; i < count; ++i) {
    const double x = begin.column + i + 0.5;
    const double depth = map.g * x + map.h * y + 1;
    const auto at = static_cast<std::size_t>(i);
    places.columns[at] = kept_near((map.a * x + map.b * y + map.c) / depth, in.width);
    places.rows[at] = kept_near((map.d * x + map.e * y + map.f) / depth, in.height);
  }
}

}  // namespace

void project_pixels(const PerspectiveMap& map, const Projection& projection, const PixelView& in,
                    std::uint8_t* out) {
  PlacesOfRow places;
  for (int row = 0; row < in.height; ++row) {
    for (int first = 0; first < in.width; first += kPlaces) {
      const int count = std::min(kPlaces, in.width - first);
      find_places(map, {first, row}, count, in, places);
      take_places(projection, in, places, count, out);
      out += std::ptrdiff_t{3} * count;
    }
  }
}

}  // namespace unstarve::kernels
