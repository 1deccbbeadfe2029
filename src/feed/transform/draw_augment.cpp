#include "feed/transform/draw_augment.h"

#include <cmath>
#include <numbers>
#include <optional>

namespace unstarve::feed {
namespace {

using Kind = AugmentChange::Kind;
using kernels::AffineMap;
using kernels::ColourOp;
using kernels::ToneOp;

/// Pillow's Image.rotate(): around the centre, against the clock.
AffineMap turned(double degrees, ImageSize size) {
  const auto rounded = [](double value) { return std::nearbyint(value * 1e15) / 1e15; };
  const double angle = -degrees * std::numbers::pi / 180;
  AffineMap map;
  map.a = map.e = rounded(std::cos(angle));
  map.b = rounded(std::sin(angle));
  map.d = rounded(-std::sin(angle));
  const double x = size.width / 2.0;
  const double y = size.height / 2.0;
  map.c = x - map.a * x - map.b * y;
  map.f = y - map.d * x - map.e * y;
  return map;
}

/// None where the change moves no pixel.
std::optional<AffineMap> places_of(Kind kind, double magnitude, ImageSize size) {
  AffineMap map;
  if (kind == Kind::kShearX) {
    map.b = magnitude;
  } else if (kind == Kind::kShearY) {
    map.d = magnitude;
  } else if (kind == Kind::kTranslateX) {
    map.c = -magnitude;
  } else if (kind == Kind::kTranslateY) {
    map.f = -magnitude;
  } else if (kind == Kind::kRotate) {
    map = turned(magnitude, size);
  } else {
    return std::nullopt;
  }
  return map;
}

std::optional<PixelDraw> colours_of(Kind kind, double magnitude) {
  PixelDraw draw;
  draw.factor = 1.0 + magnitude;
  switch (kind) {
    case Kind::kBrightness: draw.colour = ColourOp::kBrightness; return draw;
    case Kind::kContrast: draw.colour = ColourOp::kContrast; return draw;
    case Kind::kSaturation: draw.colour = ColourOp::kSaturation; return draw;
    case Kind::kSharpness: draw.kind = PixelDraw::Kind::kSharpness; return draw;
    default: break;
  }
  draw.kind = PixelDraw::Kind::kTone;
  draw.factor = magnitude;
  switch (kind) {
    case Kind::kPosterize: draw.tone = ToneOp::kPosterize; return draw;
    case Kind::kSolarize: draw.tone = ToneOp::kSolarize; return draw;
    case Kind::kAutoContrast: draw.tone = ToneOp::kAutoContrast; return draw;
    case Kind::kEqualize: draw.tone = ToneOp::kEqualize; return draw;
    case Kind::kInvert: draw.tone = ToneOp::kInvert; return draw;
    case Kind::kSolarizeAdd: draw.tone = ToneOp::kSolarizeAdd; return draw;
    default: return std::nullopt;
  }
}

kernels::AffineFill fill_of(const AugmentPlan& plan, SampleRandom& random) {
  using Between = kernels::AffineFill::Between;
  kernels::AffineFill fill{Between::kNearest, plan.fill};
  switch (plan.between) {
    case AugmentPlan::Between::kNearest: break;
    case AugmentPlan::Between::kBilinear: fill.between = Between::kBilinear; break;
    case AugmentPlan::Between::kBicubic: fill.between = Between::kBicubic; break;
    case AugmentPlan::Between::kEither:
      fill.between = random.below(2) == 1 ? Between::kBicubic : Between::kBilinear;
      break;
  }
  return fill;
}

double draw_magnitude(const AugmentChange& change, SampleRandom& random) {
  double magnitude = 0;
  if (!change.magnitudes.empty()) {
    magnitude =
        change.magnitudes[random.below(static_cast<std::uint32_t>(change.magnitudes.size()))];
  }
  return change.is_signed && random.below(2) == 1 ? -magnitude : magnitude;
}

}  // namespace

std::optional<PixelDraw> draw_change(const AugmentChange& change, ImageSize size,
                                     SampleRandom& random) {
  const double magnitude = draw_magnitude(change, random);
  const std::optional<AffineMap> places = places_of(change.kind, magnitude, size);
  if (!places) return colours_of(change.kind, magnitude);
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kPlaces;
  draw.places = *places;
  return draw;
}

void draw_augment(const AugmentPlan& plan, ImageSize size, SampleRandom& random,
                  std::vector<PixelDraw>& draws) {
  for (int round = 0; round < plan.rounds; ++round) {
    const auto& set = plan.sets[random.below(static_cast<std::uint32_t>(plan.sets.size()))];
    for (const AugmentChange& change : set) {
      if (random.uniform() >= change.probability) continue;
      std::optional<PixelDraw> draw = draw_change(change, size, random);
      if (!draw) continue;
      if (draw->kind == PixelDraw::Kind::kPlaces) draw->fill = fill_of(plan, random);
      draws.push_back(*draw);
    }
  }
}

}  // namespace unstarve::feed
