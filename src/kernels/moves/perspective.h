#pragma once

#include <cstdint>

#include "kernels/pixels/affine.h"

namespace unstarve::kernels {

/// Where an output pixel comes from: x of the input is (a x + b y + c) / (g x + h y + 1), y is
/// (d x + e y + f) / (g x + h y + 1), where (x, y) is the centre of the output's pixel. As Pillow's
/// Image.transform(PERSPECTIVE) has it. A place that is no number is outside.
struct PerspectiveMap {
  double a = 1.0;
  double b = 0.0;
  double c = 0.0;
  double d = 0.0;
  double e = 1.0;
  double f = 0.0;
  double g = 0.0;
  double h = 0.0;
};

/// Whose pixels come out at the image's edges, and how blended values become whole.
enum class EdgeRule {
  kPillow,     // the edge is as the pixels beside it, what lies outside is filled; rounded down
  kTorch,      // the edge is blended with the fill, as torchvision's on tensors; rounded
  kTorchBare,  // the same where no fill is given: with zeros, as grid_sample()
};

struct Projection {
  AffineFill fill;  // kNearest or kBilinear
  EdgeRule edges = EdgeRule::kPillow;
};

/// Moves pixels; `out` is as large as `in` and does not overlap it. Equal to Pillow's or
/// torchvision's where they are not blended, within 1 where they are; torchvision's places are
/// float32, so that a pixel between two may come from the other one.
void project_pixels(const PerspectiveMap& map, const Projection& projection, const PixelView& in,
                    std::uint8_t* out);

}  // namespace unstarve::kernels
