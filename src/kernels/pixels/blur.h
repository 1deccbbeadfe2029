#pragma once

#include <cstdint>
#include <vector>

namespace unstarve::kernels {

/// Taps of a Gaussian, odd and at most 255 in each direction, and its standard deviation in pixels.
struct Blur {
  int taps_across = 3;
  int taps_down = 3;
  double sigma = 1.0;
};

/// torchvision's gaussian_blur() of `width` x `height` interleaved RGB pixels, in place: floats,
/// rounded at the end; beyond the edges pixels are mirrored, so that each side has to have more of
/// them than half of the taps. `memory` is scratch memory. Within 1 of torchvision's, whose sums
/// are in another order.
void blur_pixels(const Blur& blur, std::uint8_t* pixels, int width, int height,
                 std::vector<float>& memory);

/// Of one direction: taps, odd, and the standard deviation in pixels.
struct BlurTaps {
  int taps = 3;
  double sigma = 1.0;
};

struct Plane {
  std::vector<float>& values;  // width * height
  int width = 0;
  int height = 0;
};

/// The same of a plane of floats, in place.
void blur_plane(const BlurTaps& across, const BlurTaps& down, const Plane& plane,
                std::vector<float>& memory);

}  // namespace unstarve::kernels
