#include "kernels/pixels/tone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace unstarve::kernels {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Pixels = std::vector<std::uint8_t>;

Pixels changed(ToneOp op, double value, Pixels pixels) {
  adjust_tone(op, value, pixels.data(), pixels.size() / 3);
  return pixels;
}

TEST(Tone, ValuesByThemselves) {
  const Pixels pixel = {255, 127, 3};
  EXPECT_THAT(changed(ToneOp::kPosterize, 4, pixel), ElementsAre(240, 112, 0));
  EXPECT_THAT(changed(ToneOp::kPosterize, 8, pixel), ElementsAreArray(pixel));
  EXPECT_THAT(changed(ToneOp::kPosterize, 0, pixel), ElementsAre(0, 0, 0));
  EXPECT_THAT(changed(ToneOp::kSolarize, 127, pixel), ElementsAre(0, 128, 3));
  EXPECT_THAT(changed(ToneOp::kSolarize, 255.5, pixel), ElementsAreArray(pixel));
  EXPECT_THAT(changed(ToneOp::kInvert, 0, pixel), ElementsAre(0, 128, 252));
  EXPECT_THAT(changed(ToneOp::kSolarizeAdd, 110, pixel), ElementsAre(255, 237, 113));
  EXPECT_THAT(changed(ToneOp::kSolarizeAdd, 500, pixel), ElementsAre(255, 255, 255));
}

TEST(Tone, EachChannelReachesFromEndToEnd) {
  // The second channel has one value, which stays. The first ends at 254 by the rounding of floats
  // that torchvision has too.
  EXPECT_THAT(changed(ToneOp::kAutoContrast, 0, {10, 7, 0, 20, 7, 255, 15, 7, 100}),
              ElementsAre(0, 7, 0, 254, 7, 255, 127, 7, 100));
}

TEST(Tone, ValuesAreAsFrequentAsEachOther) {
  Pixels pixels;
  for (int value = 0; value < 256; ++value) {
    // Dark values alone: twice as many of each, up to the half.
    const auto dark = static_cast<std::uint8_t>(value / 2);
    for (int copy = 0; copy < 4; ++copy) pixels.insert(pixels.end(), {dark, 9, dark});
  }
  const Pixels even = changed(ToneOp::kEqualize, 0, pixels);
  EXPECT_EQ(even[0], 0);
  EXPECT_EQ(even[3 * (4 * 128)], 171);  // 512 pixels are below, in steps of three
  EXPECT_EQ(even[even.size() - 3], 255);
  EXPECT_EQ(even[1], 9) << "a channel with one value stays";
}

TEST(Tone, TheBorderIsNotSharpened) {
  std::vector<std::uint8_t> rows;
  // 3 x 3 pixels: 13 in the middle's red alone.
  Pixels pixels(27, 0);
  pixels[12] = 130;
  Pixels smooth = pixels;
  adjust_sharpness(0.0, smooth.data(), 3, 3, rows);
  Pixels expected(27, 0);
  expected[12] = 50;
  EXPECT_THAT(smooth, ElementsAreArray(expected));
  Pixels same = pixels;
  adjust_sharpness(1.0, same.data(), 3, 3, rows);
  EXPECT_THAT(same, ElementsAreArray(pixels));
  Pixels sharp = pixels;
  adjust_sharpness(1.9, sharp.data(), 3, 3, rows);
  expected[12] = 202;  // 50 + 80 * 1.9
  EXPECT_THAT(sharp, ElementsAreArray(expected));
  adjust_sharpness(0.0, pixels.data(), 1, 9, rows);
}

TEST(Tone, RowsAreSharpenedByWhatTheyWere) {
  std::mt19937 random(3);
  const int width = 7;
  const int height = 6;
  Pixels pixels(3 * 42);
  for (auto& value : pixels) value = static_cast<std::uint8_t>(random());
  Pixels expected = pixels;
  for (int y = 1; y < height - 1; ++y) {
    for (int i = 3; i < 3 * (width - 1); ++i) {
      int sum = 4 * pixels[static_cast<std::size_t>(3 * width * y + i)];
      for (int down = -1; down <= 1; ++down) {
        for (int across = -3; across <= 3; across += 3) {
          sum += pixels[static_cast<std::size_t>(3 * width * (y + down) + i + across)];
        }
      }
      expected[static_cast<std::size_t>(3 * width * y + i)] =
          static_cast<std::uint8_t>((2 * sum + 13) / 26);
    }
  }
  std::vector<std::uint8_t> rows;
  adjust_sharpness(0.0, pixels.data(), width, height, rows);
  EXPECT_THAT(pixels, ElementsAreArray(expected));
}

TEST(Tone, NothingIsChangedOfNothing) {
  std::vector<std::uint8_t> rows;
  adjust_tone(ToneOp::kEqualize, 0, nullptr, 0);
  adjust_sharpness(2.0, nullptr, 0, 0, rows);
}

}  // namespace
}  // namespace unstarve::kernels
