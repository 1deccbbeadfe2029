#pragma once

#include <cstdint>
#include <vector>

#include "kernels/moves/perspective.h"

namespace unstarve::kernels {

/// Of torchvision's ElasticTransform: how far places are moved at most, before blurring, is half of
/// `alpha` in pixels; `sigma` is the standard deviation of the blur, 0 or above in both directions.
struct Elastic {
  double alpha_across = 50.0;
  double alpha_down = 50.0;
  double sigma_across = 5.0;
  double sigma_down = 5.0;
};

/// Taps of its blurs; the image's sides are longer than half of them.
int elastic_taps(double sigma);

/// How far each pixel's place is moved, in pixels: planes as large as the image.
struct Displacement {
  std::vector<float> across;
  std::vector<float> down;
  std::vector<float> memory;  // scratch
};

/// As torchvision draws it: even numbers from -1 to 1, blurred and scaled. They follow from `seed`.
void draw_displacement(const Elastic& elastic, std::uint64_t seed, int width, int height,
                       Displacement& drawn);

/// Takes each pixel from its moved place; `out` is as large as `in` and does not overlap it. Equal
/// to torchvision's where pixels are not blended, but for places in the middle of two; within 1
/// where they are.
void displace_pixels(const Displacement& displacement, const Projection& projection,
                     const PixelView& in, std::uint8_t* out);

}  // namespace unstarve::kernels
