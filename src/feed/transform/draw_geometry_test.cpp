#include "feed/transform/draw_geometry.h"

#include <gtest/gtest.h>

#include <set>

namespace unstarve::feed {
namespace {

TEST(DrawGeometry, RandomCropsReachEveryEdge) {
  const ImageSize image{12, 9};
  GeometryPlan plan;
  plan.scale_min = 0.3;
  plan.scale_max = 0.5;
  std::set<int> rights;
  std::set<int> bottoms;
  std::set<int> lefts;
  std::set<int> tops;
  for (std::uint32_t index = 0; index < 2000; ++index) {
    SampleRandom random(DrawKey{.seed = 7, .index = index});
    const Box crop = draw_geometry(plan, image, random).crop;
    lefts.insert(crop.x);
    tops.insert(crop.y);
    rights.insert(crop.x + crop.width);
    bottoms.insert(crop.y + crop.height);
  }
  EXPECT_EQ(*lefts.begin(), 0);
  EXPECT_EQ(*tops.begin(), 0);
  EXPECT_EQ(*rights.rbegin(), image.width);
  EXPECT_EQ(*bottoms.rbegin(), image.height);
}

TEST(DrawGeometry, RandomWindowsReachEveryEdge) {
  GeometryPlan plan;
  plan.kind = GeometryPlan::Kind::kResizeRandomCrop;
  plan.resize_to = {6, 5};
  plan.size = {4, 4};
  std::set<int> columns;
  std::set<int> rows;
  for (std::uint32_t index = 0; index < 200; ++index) {
    SampleRandom random(DrawKey{.seed = 7, .index = index});
    const Box window = draw_geometry(plan, {100, 100}, random).window;
    columns.insert(window.x);
    rows.insert(window.y);
  }
  EXPECT_EQ(columns, (std::set<int>{0, 1, 2}));
  EXPECT_EQ(rows, (std::set<int>{0, 1}));
}

TEST(DrawGeometry, RandomWindowsReachIntoThePadding) {
  GeometryPlan plan;
  plan.kind = GeometryPlan::Kind::kRandomCrop;
  plan.size = {4, 4};
  plan.padding = {.left = 1, .top = 2, .right = 0, .bottom = 3};
  std::set<int> columns;
  std::set<int> rows;
  for (std::uint32_t index = 0; index < 300; ++index) {
    SampleRandom random(DrawKey{.seed = 7, .index = index});
    const SampleGeometry drawn = draw_geometry(plan, {5, 4}, random);
    EXPECT_EQ(drawn.target.width, 5);  // it is not resized
    columns.insert(drawn.window.x);
    rows.insert(drawn.window.y);
  }
  EXPECT_EQ(columns, (std::set<int>{-1, 0, 1}));
  EXPECT_EQ(rows, (std::set<int>{-2, -1, 0, 1, 2, 3}));
}

TEST(DrawGeometry, AnImageTooSmallIsPaddedOnBothSidesIfAsked) {
  GeometryPlan plan;
  plan.kind = GeometryPlan::Kind::kRandomCrop;
  plan.size = {4, 4};
  EXPECT_FALSE(fits(plan, {3, 4}));
  plan.pads_if_needed = true;
  EXPECT_TRUE(fits(plan, {3, 4}));
  std::set<int> columns;
  for (std::uint32_t index = 0; index < 100; ++index) {
    SampleRandom random(DrawKey{.seed = 7, .index = index});
    columns.insert(draw_geometry(plan, {3, 4}, random).window.x);
  }
  EXPECT_EQ(columns, (std::set<int>{-1, 0}));  // of five columns, with one on each side
}

}  // namespace
}  // namespace unstarve::feed
