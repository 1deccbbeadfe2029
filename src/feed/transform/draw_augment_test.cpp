#include "feed/transform/draw_augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace unstarve::feed {
namespace {

using Kind = AugmentChange::Kind;

std::vector<PixelDraw> draws_of(const AugmentPlan& plan, std::uint32_t index) {
  SampleRandom random({7, 0, index, 0});
  std::vector<PixelDraw> draws;
  draw_augment(plan, {64, 48}, random, draws);
  return draws;
}

AugmentPlan of_one(Kind kind, std::vector<double> magnitudes, bool is_signed = false) {
  AugmentPlan plan;
  plan.sets = {{AugmentChange{kind, 1.0, std::move(magnitudes), is_signed}}};
  return plan;
}

TEST(DrawAugment, EachRoundDrawsASet) {
  AugmentPlan plan;
  plan.rounds = 3;
  plan.sets = {{AugmentChange{Kind::kInvert, 1.0, {}, false}},
               {AugmentChange{Kind::kSharpness, 1.0, {0.5}, false},
                AugmentChange{Kind::kIdentity, 1.0, {}, false}}};
  std::set<std::vector<int>> seen;
  for (std::uint32_t index = 0; index < 200; ++index) {
    std::vector<int> kinds;
    for (const PixelDraw& draw : draws_of(plan, index)) {
      kinds.push_back(static_cast<int>(draw.kind));
      EXPECT_EQ(draw.factor, draw.kind == PixelDraw::Kind::kSharpness ? 1.5 : 0.0);
    }
    ASSERT_EQ(kinds.size(), 3U) << "an identity changes nothing";
    seen.insert(kinds);
  }
  EXPECT_EQ(seen.size(), 8U);
}

TEST(DrawAugment, ProbabilitiesMagnitudesAndSignsAreDrawn) {
  AugmentPlan plan = of_one(Kind::kShearX, {0.1, 0.2, 0.3}, true);
  plan.sets[0][0].probability = 0.5;
  int none = 0;
  std::set<double> seen;
  for (std::uint32_t index = 0; index < 400; ++index) {
    const auto draws = draws_of(plan, index);
    if (draws.empty()) ++none;
    for (const PixelDraw& draw : draws) seen.insert(draw.places.b);
  }
  EXPECT_NEAR(none, 200, 60);
  EXPECT_THAT(seen, testing::ElementsAre(-0.3, -0.2, -0.1, 0.1, 0.2, 0.3));
}

TEST(DrawAugment, PixelsComeFromWherePillowTakesThem) {
  const auto places = [](Kind kind, double magnitude) {
    const auto draws = draws_of(of_one(kind, {magnitude}), 0);
    EXPECT_EQ(draws.size(), 1U);
    const kernels::AffineMap& map = draws.front().places;
    return std::vector<double>{map.a, map.b, map.c, map.d, map.e, map.f};
  };
  using testing::ElementsAre;
  EXPECT_THAT(places(Kind::kTranslateX, 5), ElementsAre(1, 0, -5, 0, 1, 0));
  EXPECT_THAT(places(Kind::kTranslateY, 2.5), ElementsAre(1, 0, 0, 0, 1, -2.5));
  EXPECT_THAT(places(Kind::kShearY, 0.4), ElementsAre(1, 0, 0, 0.4, 1, 0));
  // Around the centre of 64 x 48 pixels, against the clock.
  EXPECT_THAT(places(Kind::kRotate, 90), ElementsAre(0, -1, 56, 1, 0, -8));
}

TEST(DrawAugment, TheWayBetweenPixelsIsThePlans) {
  AugmentPlan plan = of_one(Kind::kRotate, {3});
  plan.fill = {1, 2, 3};
  plan.between = AugmentPlan::Between::kEither;
  std::set<kernels::AffineFill::Between> seen;
  for (std::uint32_t index = 0; index < 50; ++index) {
    const auto draws = draws_of(plan, index);
    EXPECT_EQ(draws.front().fill.colour, plan.fill);
    seen.insert(draws.front().fill.between);
  }
  EXPECT_THAT(seen, testing::ElementsAre(kernels::AffineFill::Between::kBilinear,
                                         kernels::AffineFill::Between::kBicubic));
}

TEST(DrawAugment, FewerBitsAreKept) {
  const auto draws = draws_of(of_one(Kind::kPosterize, {3}), 0);
  ASSERT_EQ(draws.size(), 1U);
  EXPECT_EQ(draws[0].kind, PixelDraw::Kind::kTone);
  EXPECT_EQ(draws[0].tone, kernels::ToneOp::kPosterize);
  EXPECT_EQ(draws[0].factor, 3);
}

}  // namespace
}  // namespace unstarve::feed
