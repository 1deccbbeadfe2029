#include "feed/transform/draw_affine.h"

#include <cmath>
#include <numbers>

namespace unstarve::feed {
namespace {

/// What was drawn; angles in radians.
struct Affine {
  double angle = 0;
  double across = 0;  // pixels
  double down = 0;
  double scale = 1;
  double shear_x = 0;
  double shear_y = 0;
};

Affine drawn(const AffinePlan& plan, ImageSize size, SampleRandom& random) {
  const auto between = [&random](const AffinePlan::Range& range) {
    return range[0] == range[1] ? range[0] : random.uniform(range[0], range[1]);
  };
  const auto moved = [&random](double most) {
    // Halves go to even, as in Python.
    return most > 0 ? std::nearbyint(random.uniform(-most, most)) : 0.0;
  };
  constexpr double kDegree = std::numbers::pi / 180;
  Affine affine;
  affine.angle = kDegree * between(plan.degrees);
  affine.across = moved(plan.across * size.width);
  affine.down = moved(plan.down * size.height);
  affine.scale = between(plan.scale);
  affine.shear_x = kDegree * between(plan.shear_x);
  affine.shear_y = kDegree * between(plan.shear_y);
  return affine;
}

/// torchvision's functional._get_inverse_affine_matrix(), around the image's centre.
kernels::AffineMap inverse_of(const Affine& affine, ImageSize size) {
  const double x = size.width * 0.5;
  const double y = size.height * 0.5;
  const double turned = affine.angle - affine.shear_y;
  const double narrowed = std::cos(affine.shear_y);
  const double sheared = std::tan(affine.shear_x);
  const double a = std::cos(turned) / narrowed;
  const double b = -std::cos(turned) * sheared / narrowed - std::sin(affine.angle);
  const double c = std::sin(turned) / narrowed;
  const double d = -std::sin(turned) * sheared / narrowed + std::cos(affine.angle);
  kernels::AffineMap map;
  map.a = d / affine.scale;
  map.b = -b / affine.scale;
  map.d = -c / affine.scale;
  map.e = a / affine.scale;
  map.c = map.a * (-x - affine.across) + map.b * (-y - affine.down) + x;
  map.f = map.d * (-x - affine.across) + map.e * (-y - affine.down) + y;
  return map;
}

kernels::AffineFill fill_of(const AffinePlan& plan) {
  using Between = kernels::AffineFill::Between;
  switch (plan.between) {
    case AugmentPlan::Between::kBilinear: return {Between::kBilinear, plan.fill};
    case AugmentPlan::Between::kBicubic: return {Between::kBicubic, plan.fill};
    case AugmentPlan::Between::kNearest:
    case AugmentPlan::Between::kEither: break;
  }
  return {Between::kNearest, plan.fill};
}

}  // namespace

PixelDraw draw_affine(const AffinePlan& plan, ImageSize size, SampleRandom& random) {
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kPlaces;
  draw.places = inverse_of(drawn(plan, size, random), size);
  draw.fill = fill_of(plan);
  return draw;
}

}  // namespace unstarve::feed
