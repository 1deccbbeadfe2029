#include "kernels/moves/elastic.h"

#include <algorithm>
#include <cstddef>

#include "kernels/moves/places.h"
#include "kernels/noise/philox.h"
#include "kernels/pixels/blur.h"

namespace unstarve::kernels {
namespace {

/// Evenly from [-1, 1), as torch.rand() * 2 - 1 has them.
void fill_evenly(std::uint64_t seed, std::uint32_t sequence, std::vector<float>& values) {
  std::uint32_t block = 0;
  for (std::size_t at = 0; at < values.size(); ++block) {
    for (const std::uint32_t bits : philox({block, sequence, 0, 0}, seed)) {
      if (at == values.size()) return;
      values[at++] = static_cast<float>(bits >> 8U) * 0x1p-23F - 1;
    }
  }
}

void scale(double factor, std::vector<float>& values) {
  const auto by = static_cast<float>(factor);
  for (float& value : values) value *= by;
}

}  // namespace

int elastic_taps(double sigma) {
  const int taps = static_cast<int>(8 * sigma + 1);
  return taps + (taps % 2 == 0 ? 1 : 0);
}

void draw_displacement(const Elastic& elastic, std::uint64_t seed, int width, int height,
                       Displacement& drawn) {
  const std::size_t count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::uint32_t sequence = 0;
  for (std::vector<float>* plane : {&drawn.across, &drawn.down}) {
    plane->resize(count);
    fill_evenly(seed, sequence++, *plane);
  }
  if (elastic.sigma_across > 0 && elastic.sigma_down > 0) {
    // A plane's kernel is a square, as wide as the deviation of its own direction asks for.
    const auto blur = [&](int taps, std::vector<float>& plane) {
      blur_plane({taps, elastic.sigma_across}, {taps, elastic.sigma_down}, {plane, width, height},
                 drawn.memory);
    };
    blur(elastic_taps(elastic.sigma_across), drawn.across);
    blur(elastic_taps(elastic.sigma_down), drawn.down);
  }
  // torchvision's are of the sides' halves.
  scale(elastic.alpha_across / 2, drawn.across);
  scale(elastic.alpha_down / 2, drawn.down);
}

void displace_pixels(const Displacement& displacement, const Projection& projection,
                     const PixelView& in, std::uint8_t* out) {
  PlacesOfRow places;
  const float* across = displacement.across.data();
  const float* down = displacement.down.data();
  for (int row = 0; row < in.height; ++row) {
    for (int first = 0; first < in.width; first += kPlaces) {
      const int count = std::min(kPlaces, in.width - first);
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        places.columns[at] = kept_near(first + i + 0.5 + across[i], in.width);
        places.rows[at] = kept_near(row + 0.5 + down[i], in.height);
      }
      take_places(projection, in, places, count, out);
      across += count;
      down += count;
      out += std::ptrdiff_t{3} * count;
    }
  }
}

}  // namespace unstarve::kernels
