#include "kernels/pixels/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unstarve::kernels {
namespace {

TEST(ImageMix, CopiesAreAddedAndFractionsCutOff) {
  std::vector<std::uint8_t> values = {0, 100, 255};
  ImageMix mix;
  mix.begin(0.25F, values.data(), values.size());
  values = {10, 20, 255};
  mix.add(0.5F, values.data());
  EXPECT_THAT(values, testing::ElementsAre(0, 100, 255)) << "the image as it was";
  values = {3, 0, 255};
  mix.add(0.25F, values.data());
  mix.finish(values.data());
  EXPECT_THAT(values, testing::ElementsAre(5, 35, 255));
}

TEST(ImageMix, WeightsThatAddUpToMoreThanOneStayBytes) {
  std::vector<std::uint8_t> values = {255};
  ImageMix mix;
  mix.begin(0.7F, values.data(), 1);
  mix.add(0.7F, values.data());
  mix.finish(values.data());
  EXPECT_EQ(values[0], 255);
}

}  // namespace
}  // namespace unstarve::kernels
