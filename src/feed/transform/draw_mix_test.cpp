#include "feed/transform/draw_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace unstarve::feed {
namespace {

using DrawKind = PixelDraw::Kind;

MixPlan plan_of(AugmentChange::Kind kind) {
  MixPlan plan;
  plan.changes = {{kind, 1.0, {0.25}, false}};
  return plan;
}

std::vector<PixelDraw> draws_of(const MixPlan& plan, std::uint32_t index) {
  SampleRandom random({7, 0, index, 0});
  std::vector<PixelDraw> draws;
  draw_mix(plan, {64, 48}, random, draws);
  return draws;
}

TEST(DrawMix, ChainsHaveOneToThreeLinksAndWeightsAddUp) {
  std::set<int> seen;
  for (std::uint32_t index = 0; index < 100; ++index) {
    double weights = 0;
    int chains = 0;
    int links = 0;
    const std::vector<PixelDraw> draws = draws_of(plan_of(AugmentChange::Kind::kInvert), index);
    EXPECT_EQ(draws.front().kind, DrawKind::kMixBegin);
    EXPECT_EQ(draws.back().kind, DrawKind::kMixEnd);
    for (const PixelDraw& draw : draws) {
      if (draw.kind == DrawKind::kTone) ++links;
      if (draw.kind == DrawKind::kMixBegin || draw.kind == DrawKind::kMixAdd) {
        EXPECT_GE(draw.factor, 0);
        weights += draw.factor;
      }
      if (draw.kind != DrawKind::kMixAdd) continue;
      seen.insert(links);
      links = 0;
      ++chains;
    }
    EXPECT_EQ(chains, 3);
    EXPECT_NEAR(weights, 1, 1e-12);
  }
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
}

TEST(DrawMix, WidthAndDepthAreThePlans) {
  MixPlan plan = plan_of(AugmentChange::Kind::kInvert);
  plan.width = 2;
  plan.depth = 4;
  plan.alpha = 0.01;  // of which most numbers are next to nothing
  for (std::uint32_t index = 0; index < 100; ++index) {
    const std::vector<PixelDraw> draws = draws_of(plan, index);
    ASSERT_EQ(draws.size(), 12U);
    EXPECT_NEAR(draws[0].factor + draws[5].factor + draws[10].factor, 1, 1e-12);
  }
}

TEST(DrawMix, PixelsMoveAsThoseOfTensors) {
  MixPlan plan = plan_of(AugmentChange::Kind::kShearX);
  plan.depth = 1;
  PixelDraw draw = draws_of(plan, 0)[1];
  EXPECT_EQ(draw.kind, DrawKind::kPerspective);
  EXPECT_EQ(draw.perspective.b, 0.25);
  EXPECT_EQ(draw.edges, kernels::EdgeRule::kTorchBare);
  plan.fill = {1, 2, 3};
  draw = draws_of(plan, 0)[1];
  EXPECT_EQ(draw.edges, kernels::EdgeRule::kTorch);
  EXPECT_EQ(draw.fill.colour, *plan.fill);
}

}  // namespace
}  // namespace unstarve::feed
