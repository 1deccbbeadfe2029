#include "feed/transform/draw_perspective.h"

#include <array>

namespace unstarve::feed {
namespace {

struct Corner {
  double x = 0;
  double y = 0;
};

/// Where the image's corners come to lie: top left, top right, bottom right, bottom left.
using Corners = std::array<Corner, 4>;

/// Numbers of pixels from which a corner's place along a side is drawn.
std::uint32_t reach(double distortion, int side) {
  const int half = side / 2;
  return static_cast<std::uint32_t>(distortion * half) + 1;
}

Corners drawn(const PerspectivePlan& plan, ImageSize size, SampleRandom& random) {
  const auto near = [&](int side) -> double { return random.below(reach(plan.distortion, side)); };
  const auto far = [&](int side) -> double {
    const std::uint32_t bound = reach(plan.distortion, side);
    return static_cast<double>(side) - bound + random.below(bound);
  };
  Corners corners;
  corners[0].x = near(size.width);
  corners[0].y = near(size.height);
  corners[1].x = far(size.width);
  corners[1].y = near(size.height);
  corners[2].x = far(size.width);
  corners[2].y = far(size.height);
  corners[3].x = near(size.width);
  corners[3].y = far(size.height);
  return corners;
}

/// From the corners to the unit square's (Heckbert, Fundamentals of Texture Mapping, 1989), and
/// from there to the image's. Where three corners lie on a line some numbers are not finite.
kernels::PerspectiveMap map_to(const Corners& corners, ImageSize size) {
  const auto [top_left, top_right, bottom_right, bottom_left] = corners;
  const Corner right{top_right.x - bottom_right.x, top_right.y - bottom_right.y};
  const Corner low{bottom_left.x - bottom_right.x, bottom_left.y - bottom_right.y};
  const Corner sum{top_left.x - bottom_left.x - right.x, top_left.y - bottom_left.y - right.y};
  const double area = right.x * low.y - low.x * right.y;
  // From the unit square to the corners.
  const double g = (sum.x * low.y - low.x * sum.y) / area;
  const double h = (right.x * sum.y - sum.x * right.y) / area;
  const double a = top_right.x - top_left.x + g * top_right.x;
  const double b = bottom_left.x - top_left.x + h * bottom_left.x;
  const double d = top_right.y - top_left.y + g * top_right.y;
  const double e = bottom_left.y - top_left.y + h * bottom_left.y;
  const double c = top_left.x;
  const double f = top_left.y;
  const double whole = a * e - b * d;
  // torchvision keeps the numbers as float32.
  const auto scaled = [whole](double value, double by) -> double {
    return static_cast<float>(value * by / whole);
  };
  const double across = size.width - 1;
  const double down = size.height - 1;
  kernels::PerspectiveMap map;
  map.a = scaled(e - f * h, across);
  map.b = scaled(c * h - b, across);
  map.c = scaled(b * f - c * e, across);
  map.d = scaled(f * g - d, down);
  map.e = scaled(a - c * g, down);
  map.f = scaled(c * d - a * f, down);
  map.g = scaled(d * h - e * g, 1);
  map.h = scaled(b * g - a * h, 1);
  return map;
}

}  // namespace

PixelDraw draw_perspective(const PerspectivePlan& plan, ImageSize size, SampleRandom& random) {
  using Between = kernels::AffineFill::Between;
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kPerspective;
  draw.perspective = map_to(drawn(plan, size, random), size);
  const bool blends = plan.between == AugmentPlan::Between::kBilinear;
  draw.fill = {blends ? Between::kBilinear : Between::kNearest, plan.fill};
  draw.edges = plan.of_tensor ? kernels::EdgeRule::kTorch : kernels::EdgeRule::kPillow;
  return draw;
}

}  // namespace unstarve::feed
