#include "kernels/pixels/colour_adjust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

using Pixels = std::vector<std::uint8_t>;

/// Random pixels, with greys, extremes and flat runs among them.
Pixels random_pixels(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Pixels bytes;
  while (bytes.size() < 3 * count) {
    const auto draw = static_cast<unsigned>(random());
    const auto byte = [draw](int shift) { return static_cast<std::uint8_t>(draw >> shift); };
    const std::uint8_t grey = draw % 8 == 1 ? 255 : byte(8);
    if (draw % 8 == 0) {
      bytes.insert(bytes.end(), {grey, grey, grey});
    } else {
      bytes.insert(bytes.end(), {draw % 8 == 2 ? std::uint8_t{0} : byte(8), byte(16), grey});
    }
  }
  return bytes;
}

struct Change {
  ColourOp op;
  double factor;
};

constexpr Change kChanges[] = {
    {ColourOp::kBrightness, 0.0}, {ColourOp::kBrightness, 0.37}, {ColourOp::kBrightness, 1.0},
    {ColourOp::kBrightness, 2.6}, {ColourOp::kContrast, 0.0},    {ColourOp::kContrast, 0.81},
    {ColourOp::kContrast, 1.9},   {ColourOp::kSaturation, 0.0},  {ColourOp::kSaturation, 0.55},
    {ColourOp::kSaturation, 1.0}, {ColourOp::kSaturation, 3.0},  {ColourOp::kHue, -0.5},
    {ColourOp::kHue, -0.13},      {ColourOp::kHue, 0.0},         {ColourOp::kHue, 0.21},
    {ColourOp::kHue, 0.5},        {ColourOp::kGreyscale, 0.0}};

class ColourKernels : public test::EveryTarget {};

TEST_P(ColourKernels, AgreeWithThePlainOnes) {
  unsigned seed = 1;
  for (const Change& change : kChanges) {
    for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 63U, 1000U, 70000U}) {
      const Pixels pixels = random_pixels(count, seed++);
      Pixels expected = pixels;
      adjust_colour_plain(change.op, change.factor, expected.data(), count);
      Pixels actual = pixels;
      actual.push_back(77);
      adjust_colour(change.op, change.factor, actual.data(), count);
      ASSERT_EQ(actual.back(), 77) << "wrote past the end";
      actual.pop_back();
      int differing = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const int apart = std::abs(int{actual[i]} - int{expected[i]});
        ASSERT_LE(apart, 1) << static_cast<int>(change.op) << " " << change.factor << " at " << i;
        differing += apart;
      }
      // Only where multiply-add takes two roundings may a result lie on another side of a whole.
      const bool fused = (GetParam() & (HWY_SSSE3 | HWY_SSE4)) == 0;
      EXPECT_LE(differing, fused ? 0 : static_cast<int>(expected.size() / 50 + 1));
    }
  }
}

TEST_P(ColourKernels, NothingIsChangedOfNothing) {
  adjust_colour(ColourOp::kContrast, 0.5, nullptr, 0);
  adjust_colour_plain(ColourOp::kContrast, 0.5, nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(Simd, ColourKernels, testing::ValuesIn(test::every_target()),
                         test::target_name);

TEST(ColourAdjust, KnownValues) {
  const auto changed = [](ColourOp op, double factor, Pixels pixel) {
    adjust_colour(op, factor, pixel.data(), pixel.size() / 3);
    return pixel;
  };
  using testing::ElementsAre;
  EXPECT_THAT(changed(ColourOp::kBrightness, 0.5, {255, 7, 0}), ElementsAre(127, 3, 0));
  EXPECT_THAT(changed(ColourOp::kGreyscale, 0, {255, 0, 0}), ElementsAre(76, 76, 76));
  EXPECT_THAT(changed(ColourOp::kSaturation, 0, {0, 255, 0}), ElementsAre(149, 149, 149));
  EXPECT_THAT(changed(ColourOp::kContrast, 0, {200, 200, 200, 100, 100, 100}),
              ElementsAre(149, 149, 149, 149, 149, 149));
  EXPECT_THAT(changed(ColourOp::kHue, 0.5, {255, 0, 0}), ElementsAre(0, 255, 255));
}

}  // namespace
}  // namespace unstarve::kernels
