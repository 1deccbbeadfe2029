#include "feed/transform/draw_pixels.h"

#include <array>
#include <cmath>
#include <utility>

#include "feed/transform/draw_affine.h"
#include "feed/transform/draw_augment.h"
#include "feed/transform/draw_mix.h"
#include "feed/transform/draw_perspective.h"

namespace unstarve::feed {
namespace {

using kernels::ColourOp;

PixelDraw colours(ColourOp op, double factor) {
  PixelDraw draw;
  draw.colour = op;
  draw.factor = factor;
  return draw;
}

PixelDraw blurred(const BlurPlan& plan, SampleRandom& random) {
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kBlur;
  const double sigma = random.uniform(plan.sigma_min, plan.sigma_max);
  draw.blur = {plan.taps_across, plan.taps_down, sigma};
  return draw;
}

PixelDraw compressed(const JpegPlan& plan, SampleRandom& random) {
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kJpeg;
  const auto qualities = static_cast<std::uint32_t>(plan.quality_max - plan.quality_min + 1);
  draw.quality = plan.quality_min + static_cast<int>(random.below(qualities));
  return draw;
}

PixelDraw displaced(const ElasticPlan& plan, SampleRandom& random) {
  using Between = kernels::AffineFill::Between;
  PixelDraw draw;
  draw.kind = PixelDraw::Kind::kElastic;
  draw.elastic = {plan.alpha[0], plan.alpha[1], plan.sigma[0], plan.sigma[1]};
  draw.seed = static_cast<std::uint64_t>(random.uniform() * 0x1p53);
  const bool blends = plan.between == AugmentPlan::Between::kBilinear;
  draw.fill.between = blends ? Between::kBilinear : Between::kNearest;
  if (plan.fill) draw.fill.colour = *plan.fill;
  draw.edges = plan.fill ? kernels::EdgeRule::kTorch : kernels::EdgeRule::kTorchBare;
  return draw;
}

void draw_jitter(const ColourStep& step, SampleRandom& random, std::vector<PixelDraw>& draws) {
  const std::array<std::pair<ColourOp, const std::optional<ColourStep::Bounds>*>, 4> changes = {{
      {ColourOp::kBrightness, &step.brightness},
      {ColourOp::kContrast, &step.contrast},
      {ColourOp::kSaturation, &step.saturation},
      {ColourOp::kHue, &step.hue},
  }};
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  for (std::uint32_t left = 4; left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  std::array<double, 4> factors = {};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& bounds = *changes[i].second;
    if (bounds) factors[i] = random.uniform(bounds->low, bounds->high);
  }
  for (const std::size_t i : order) {
    if (*changes[i].second) draws.push_back(colours(changes[i].first, factors[i]));
  }
}

void draw_steps(const std::vector<ColourStep>& steps, ImageSize size, SampleRandom& random,
                std::vector<PixelDraw>& draws);

void draw_choice(const std::vector<ColourChoice>& choices, ImageSize size, SampleRandom& random,
                 std::vector<PixelDraw>& draws) {
  double left = 0;
  for (const ColourChoice& choice : choices) left += choice.weight;
  left *= random.uniform();
  const ColourChoice* drawn = nullptr;
  for (const ColourChoice& choice : choices) {
    if (choice.weight <= 0) continue;
    drawn = &choice;  // the last one where roundings leave something
    left -= choice.weight;
    if (left < 0) break;
  }
  if (drawn != nullptr) draw_steps(drawn->steps, size, random, draws);
}

void draw_step(const ColourStep& step, ImageSize size, SampleRandom& random,
               std::vector<PixelDraw>& draws) {
  switch (step.kind) {
    case ColourStep::Kind::kGreyscale: draws.push_back(colours(ColourOp::kGreyscale, 0.0)); break;
    case ColourStep::Kind::kAugment: draw_augment(step.augment, size, random, draws); break;
    case ColourStep::Kind::kAffine: draws.push_back(draw_affine(step.affine, size, random)); break;
    case ColourStep::Kind::kPerspective:
      draws.push_back(draw_perspective(step.perspective, size, random));
      break;
    case ColourStep::Kind::kMix: draw_mix(step.mix, size, random, draws); break;
    case ColourStep::Kind::kJpeg: draws.push_back(compressed(step.jpeg, random)); break;
    case ColourStep::Kind::kElastic: draws.push_back(displaced(step.elastic, random)); break;
    case ColourStep::Kind::kBlur: draws.push_back(blurred(step.blur, random)); break;
    case ColourStep::Kind::kChoice: draw_choice(step.choices, size, random, draws); break;
    case ColourStep::Kind::kJitter: draw_jitter(step, random, draws); break;
  }
}

void draw_steps(const std::vector<ColourStep>& steps, ImageSize size, SampleRandom& random,
                std::vector<PixelDraw>& draws) {
  for (const ColourStep& step : steps) {
    if (random.uniform() < step.probability) draw_step(step, size, random, draws);
  }
}

}  // namespace

void draw_pixels(const std::vector<ColourStep>& steps, ImageSize size, SampleRandom& random,
                 std::vector<PixelDraw>& draws) {
  draws.clear();
  draw_steps(steps, size, random, draws);
}

std::optional<Box> draw_erasing(const ErasingPlan& plan, ImageSize size, SampleRandom& random) {
  if (random.uniform() >= plan.probability) return std::nullopt;
  const double area = static_cast<double>(size.width) * size.height;
  const double log_ratio_min = std::log(plan.ratio_min);
  const double log_ratio_max = std::log(plan.ratio_max);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double erased = area * random.uniform(plan.scale_min, plan.scale_max);
    const double ratio = std::exp(random.uniform(log_ratio_min, log_ratio_max));
    // Halves go to even, as in Python; infinities and what is too large fail the comparison.
    const double height = std::nearbyint(std::sqrt(erased * ratio));
    const double width = std::nearbyint(std::sqrt(erased / ratio));
    if (!(height < size.height && width < size.width)) continue;
    Box box{0, 0, static_cast<int>(width), static_cast<int>(height)};
    box.y =
        static_cast<int>(random.below(static_cast<std::uint32_t>(size.height - box.height + 1)));
    box.x = static_cast<int>(random.below(static_cast<std::uint32_t>(size.width - box.width + 1)));
    return box;
  }
  return std::nullopt;
}

}  // namespace unstarve::feed
