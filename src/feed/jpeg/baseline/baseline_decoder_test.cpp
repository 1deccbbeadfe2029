#include "feed/jpeg/baseline/baseline_decoder.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/testing/collected_rows.h"
#include "feed/testing/made_jpeg.h"
#include "kernels/testing/every_target.h"

namespace unstarve::feed {
namespace {

using test::CollectedRows;
using test::cut;
using test::Pixels;

/// Whether all components fit into one scan: an MCU has at most 10 blocks.
bool is_one_scan(const test::Sampling& sampling) {
  if (sampling.components == 1) return true;
  return sampling.luma[0] * sampling.luma[1] + 2 * sampling.chroma[0] * sampling.chroma[1] <= 10;
}

class BaselineDecoderOn : public kernels::test::EveryTarget {
 protected:
  void expect_same_pixels(const test::JpegRecipe& recipe, int crops) {
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    const Pixels whole = test::rgb_of_jpeg(jpeg, recipe);
    for (int repeat = 0; repeat < crops; ++repeat) {
      const Result<ImageSize> size = decoder_.open(jpeg);
      ASSERT_TRUE(size) << size.error().message;
      const Box box =
          repeat == 0 ? Box{0, 0, size->width, size->height} : test::random_box(*size, random_);
      CollectedRows sink(box.width);
      const Status status = decoder_.decode(box, sink);
      ASSERT_TRUE(status) << status.error().message;
      ASSERT_EQ(sink.pixels, cut(whole, recipe.size.width, box))
          << "box " << box.x << " " << box.y << " " << box.width << " " << box.height;
    }
  }

  BaselineDecoder decoder_{1'000'000};
  std::mt19937 random_{5};
};

TEST_P(BaselineDecoderOn, HasThePixelsOfLibjpeg) {
  for (const test::Sampling& sampling : test::kSamplings) {
    if (!is_one_scan(sampling)) continue;
    for (const ImageSize size : test::kSizes) {
      expect_same_pixels({.sampling = sampling, .size = size}, 12);
    }
  }
}

TEST_P(BaselineDecoderOn, HasThemWhateverTheFile) {
  const ImageSize size = {201, 147};
  for (const int interval : {1, 3, 26, 1000}) {
    expect_same_pixels({.size = size, .restart_interval = interval}, 20);
  }
  expect_same_pixels({.sampling = {3, {1, 1}, {1, 1}}, .size = size, .rgb = true}, 20);
  expect_same_pixels({.size = size, .quality = 1}, 20);
  expect_same_pixels({.size = size, .quality = 100}, 20);
}

INSTANTIATE_TEST_SUITE_P(Targets, BaselineDecoderOn,
                         testing::ValuesIn(kernels::test::every_target()),
                         kernels::test::target_name);

TEST_P(BaselineDecoderOn, EncodesOnTheWay) {
  for (const test::Sampling& sampling : test::kSamplings) {
    if (!is_one_scan(sampling)) continue;
    const test::JpegRecipe recipe = {.sampling = sampling, .size = {201, 147}};
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    ASSERT_TRUE(decoder_.open(jpeg));
    std::vector<std::byte> alone;
    ASSERT_TRUE(decoder_.encode(alone));
    EXPECT_EQ(test::coefficients_of_payload(alone), test::coefficients_of_jpeg(jpeg));

    const Box box = test::random_box(recipe.size, random_);
    CollectedRows sink(box.width);
    std::vector<std::byte> beside;
    ASSERT_TRUE(decoder_.open(jpeg));
    ASSERT_TRUE(decoder_.decode_and_encode(box, sink, beside));
    EXPECT_EQ(beside, alone);
    EXPECT_EQ(sink.pixels, cut(test::rgb_of_jpeg(jpeg, recipe), recipe.size.width, box));
  }
}

TEST(BaselineDecoder, LeavesOtherFilesToLibjpeg) {
  BaselineDecoder decoder(1000);
  const auto too_large = decoder.open(test::make_jpeg(test::JpegKind::k444, 50, 50));
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kNotSupported);
  EXPECT_FALSE(decoder.open(test::make_jpeg(test::JpegKind::kProgressive, 20, 20)));
  EXPECT_FALSE(decoder.open({}));
}

}  // namespace
}  // namespace unstarve::feed
