#include "feed/transform/draw_mix.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "feed/transform/draw_augment.h"

namespace unstarve::feed {
namespace {

/// Above zero, so that logarithms are finite.
double above_zero(SampleRandom& random) { return 1 - random.uniform(); }

double normal(SampleRandom& random) {
  const double radius = std::sqrt(-2 * std::log(above_zero(random)));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

/// A gamma distribution's number (Marsaglia and Tsang, A Simple Method for Generating Gamma
/// Variables, 2000).
double gamma_number(double alpha, SampleRandom& random) {
  if (alpha < 1) return gamma_number(alpha + 1, random) * std::pow(above_zero(random), 1 / alpha);
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(random);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(above_zero(random)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Weights that add up to 1.
std::vector<double> dirichlet(double alpha, int count, SampleRandom& random) {
  std::vector<double> weights(static_cast<std::size_t>(count));
  double sum = 0;
  for (double& weight : weights) sum += weight = gamma_number(alpha, random);
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 1.0 / count;
  return weights;
}

PixelDraw marked(PixelDraw::Kind kind, double weight) {
  PixelDraw draw;
  draw.kind = kind;
  draw.factor = weight;
  return draw;
}

/// Pixels are moved as torchvision moves tensors.
void move_as_tensors(const MixPlan& plan, PixelDraw& draw) {
  using Between = kernels::AffineFill::Between;
  if (draw.kind != PixelDraw::Kind::kPlaces) return;
  const kernels::AffineMap& map = draw.places;
  draw.kind = PixelDraw::Kind::kPerspective;
  draw.perspective = {map.a, map.b, map.c, map.d, map.e, map.f, 0, 0};
  const bool blends = plan.between == AugmentPlan::Between::kBilinear;
  draw.fill.between = blends ? Between::kBilinear : Between::kNearest;
  if (plan.fill) draw.fill.colour = *plan.fill;
  draw.edges = plan.fill ? kernels::EdgeRule::kTorch : kernels::EdgeRule::kTorchBare;
}

}  // namespace

void draw_mix(const MixPlan& plan, ImageSize size, SampleRandom& random,
              std::vector<PixelDraw>& draws) {
  const std::vector<double> shares = dirichlet(plan.alpha, 2, random);
  const std::vector<double> weights = dirichlet(plan.alpha, plan.width, random);
  draws.push_back(marked(PixelDraw::Kind::kMixBegin, shares[0]));
  for (const double weight : weights) {
    const int depth = plan.depth > 0 ? plan.depth : 1 + static_cast<int>(random.below(3));
    for (int link = 0; link < depth; ++link) {
      const auto count = static_cast<std::uint32_t>(plan.changes.size());
      std::optional<PixelDraw> draw = draw_change(plan.changes[random.below(count)], size, random);
      if (!draw) continue;
      move_as_tensors(plan, *draw);
      draws.push_back(*draw);
    }
    draws.push_back(marked(PixelDraw::Kind::kMixAdd, shares[1] * weight));
  }
  draws.push_back(marked(PixelDraw::Kind::kMixEnd, 0));
}

}  // namespace unstarve::feed
