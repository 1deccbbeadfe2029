#include "feed/transform/surround.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace unstarve::feed {
namespace {

using testing::ElementsAre;

/// The reds of one row of eight pixels, of which the third to the sixth are 1 to 4.
std::vector<int> surrounded(Surround::Mode mode) {
  std::vector<std::uint8_t> pixels(24, 99);
  for (int i = 0; i < 4; ++i)
    pixels[static_cast<std::size_t>(3 * (2 + i))] = static_cast<std::uint8_t>(1 + i);
  surround_pixels({mode, {7, 0, 0}}, {2, 0, 4, 1}, {pixels.data(), 24, {8, 1}});
  std::vector<int> reds;
  for (std::size_t i = 0; i < pixels.size(); i += 3) reds.push_back(pixels[i]);
  return reds;
}

TEST(Surround, EachModeIsTorchvisions) {
  EXPECT_THAT(surrounded(Surround::Mode::kConstant), ElementsAre(7, 7, 1, 2, 3, 4, 7, 7));
  EXPECT_THAT(surrounded(Surround::Mode::kEdge), ElementsAre(1, 1, 1, 2, 3, 4, 4, 4));
  EXPECT_THAT(surrounded(Surround::Mode::kReflect), ElementsAre(3, 2, 1, 2, 3, 4, 3, 2));
  EXPECT_THAT(surrounded(Surround::Mode::kSymmetric), ElementsAre(2, 1, 1, 2, 3, 4, 4, 3));
}

TEST(Surround, RowsAboveAndBelowHaveTheirCorners) {
  // Two columns of pixels, of which the right one's middle is inside; rows 9 bytes apart.
  std::vector<std::uint8_t> pixels(27, 0);
  pixels[12] = 5;
  surround_pixels({Surround::Mode::kEdge, {}}, {1, 1, 1, 1}, {pixels.data(), 9, {2, 3}});
  for (const std::size_t row : {0U, 9U, 18U}) {
    EXPECT_THAT(std::vector(pixels.begin() + static_cast<int>(row),
                            pixels.begin() + static_cast<int>(row) + 9),
                ElementsAre(5, 0, 0, 5, 0, 0, 0, 0, 0));
  }
}

}  // namespace
}  // namespace unstarve::feed
