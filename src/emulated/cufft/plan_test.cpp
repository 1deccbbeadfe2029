#include "emulated/cufft/plan.h"

#include <gtest/gtest.h>

#include <cmath>

namespace unstarve::emulated::cufft {
namespace {

TEST(FourierPlanTest, AShortOneIsOneKernelThatReadsAndWritesOnce) {
  Shape shape;
  shape.sizes[0] = 1024;
  shape.batch = 10;
  const Plan plan = make_plan(shape);
  EXPECT_EQ(plan.work.kernels, 1);
  EXPECT_NEAR(plan.work.flops, 5 * 10240 * std::log2(1025.0), 1);
  EXPECT_DOUBLE_EQ(plan.work.bytes, 2 * 10240 * 8.0);
  EXPECT_EQ(plan.workspace_bytes, 0U);
}

TEST(FourierPlanTest, ALongOneIsTwoKernelsAndNeedsRoom) {
  Shape shape;
  shape.sizes[0] = 1 << 16;
  const Plan plan = make_plan(shape);
  EXPECT_EQ(plan.work.kernels, 2);
  EXPECT_EQ(plan.workspace_bytes, std::size_t{8} << 16);
}

TEST(FourierPlanTest, RealNumbersAreHalfTheWork) {
  Shape complex;
  complex.sizes[0] = 512;
  Shape real = complex;
  real.input = DataType::kR32F;
  EXPECT_DOUBLE_EQ(make_plan(real).work.flops, make_plan(complex).work.flops / 2);
}

TEST(FourierPlanTest, SizesOutOfRangeAreRefused) {
  Shape shape;
  EXPECT_TRUE(shape.valid());
  shape.sizes[0] = 0;
  EXPECT_FALSE(shape.valid());
  shape.sizes[0] = 4;
  shape.dimensions = 4;
  EXPECT_FALSE(shape.valid());
}

TEST(FourierPlansTest, ADestroyedPlanIsFoundNoMore) {
  Plans plans;
  const PlanHandle handle = plans.add({});
  Plan plan;
  EXPECT_TRUE(plans.find(handle, &plan));
  EXPECT_NE(plans.add({}), handle);
  EXPECT_TRUE(plans.remove(handle));
  EXPECT_FALSE(plans.find(handle, &plan));
  EXPECT_FALSE(plans.replace(handle, plan));
  EXPECT_FALSE(plans.remove(handle));
}

}  // namespace
}  // namespace unstarve::emulated::cufft
