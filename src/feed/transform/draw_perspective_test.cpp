#include "feed/transform/draw_perspective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unstarve::feed {
namespace {

PixelDraw draw_of(const PerspectivePlan& plan, std::uint32_t index) {
  SampleRandom random({7, 0, index, 0});
  return draw_perspective(plan, {64, 48}, random);
}

TEST(DrawPerspective, WithoutDistortionNothingMoves) {
  PerspectivePlan plan;
  plan.distortion = 0;
  const kernels::PerspectiveMap map = draw_of(plan, 0).perspective;
  for (const double value : {map.b, map.c, map.d, map.f, map.g, map.h}) EXPECT_EQ(value, 0);
  EXPECT_EQ(map.a, 1);
  EXPECT_EQ(map.e, 1);
}

TEST(DrawPerspective, CornersOfTheImageComeFromWholePixelsNearby) {
  for (std::uint32_t index = 0; index < 100; ++index) {
    const kernels::PerspectiveMap map = draw_of({}, index).perspective;
    // Of half of 64 x 48 pixels half: one place in there, and one alone, comes from (0, 0).
    int found = 0;
    for (int x = 0; x <= 16; ++x) {
      for (int y = 0; y <= 12; ++y) {
        const double depth = map.g * x + map.h * y + 1;
        const double column = (map.a * x + map.b * y + map.c) / depth;
        const double row = (map.d * x + map.e * y + map.f) / depth;
        if (std::abs(column) < 1e-3 && std::abs(row) < 1e-3) ++found;
      }
    }
    EXPECT_EQ(found, 1) << index;
  }
}

TEST(DrawPerspective, TheWayIsThePlans) {
  PerspectivePlan plan;
  plan.fill = {1, 2, 3};
  EXPECT_EQ(draw_of(plan, 1).fill.between, kernels::AffineFill::Between::kBilinear);
  EXPECT_EQ(draw_of(plan, 1).fill.colour, plan.fill);
  EXPECT_EQ(draw_of(plan, 1).edges, kernels::EdgeRule::kPillow);
  plan.between = AugmentPlan::Between::kNearest;
  plan.of_tensor = true;
  EXPECT_EQ(draw_of(plan, 1).fill.between, kernels::AffineFill::Between::kNearest);
  EXPECT_EQ(draw_of(plan, 1).edges, kernels::EdgeRule::kTorch);
}

}  // namespace
}  // namespace unstarve::feed
