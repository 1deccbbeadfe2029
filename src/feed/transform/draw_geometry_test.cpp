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

}  // namespace
}  // namespace unstarve::feed
