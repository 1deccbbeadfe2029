#include "feed/jpeg/pixels/coefficient_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "feed/jpeg/testing/payload_in_memory.h"
#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/testing/collected_rows.h"
#include "kernels/resize.h"
#include "kernels/testing/every_target.h"

namespace unstarve::feed {
namespace {

using test::cut;
using test::decode_region;
using test::PayloadInMemory;
using test::Pixels;
using testing::HasSubstr;

constexpr std::int64_t kMaxPixels = 1'000'000;

class CoefficientDecoderOn : public kernels::test::EveryTarget {
 protected:
  void expect_same_pixels(const test::JpegRecipe& recipe, int crops) {
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    PayloadInMemory stored(test::encode(jpeg));
    const Pixels whole = test::rgb_of_jpeg(jpeg, recipe);
    const auto all = decode_region(decoder_, stored, {0, 0, recipe.size.width, recipe.size.height});
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(*all, whole);
    for (int repeat = 0; repeat < crops; ++repeat) {
      const Box box = test::random_box(recipe.size, random_);
      const auto region = decode_region(decoder_, stored, box);
      ASSERT_TRUE(region) << region.error().message;
      ASSERT_EQ(*region, cut(whole, recipe.size.width, box))
          << "box " << box.x << " " << box.y << " " << box.width << " " << box.height;
    }
  }

  CoefficientDecoder decoder_{kMaxPixels};
  std::mt19937 random_{11};
};

TEST_P(CoefficientDecoderOn, HasThePixelsOfAFullDecode) {
  for (const test::Sampling& sampling : test::kSamplings) {
    for (const ImageSize size : test::kSizes) {
      expect_same_pixels({.sampling = sampling, .size = size}, 12);
    }
  }
}

TEST_P(CoefficientDecoderOn, HasThemForEveryNarrowImage) {
  for (const test::Sampling& sampling : test::kSamplings) {
    for (int width = 1; width <= 18; ++width) {
      expect_same_pixels({.sampling = sampling, .size = {width, 19 - width}}, 3);
    }
  }
}

TEST_P(CoefficientDecoderOn, HasThemWhateverTheFile) {
  const ImageSize size = {201, 147};
  expect_same_pixels({.size = size, .restart_interval = 3}, 40);
  expect_same_pixels({.size = size, .progressive = true}, 40);
  expect_same_pixels({.sampling = {3, {1, 1}, {1, 1}}, .size = size, .rgb = true}, 40);
  expect_same_pixels({.size = size, .quality = 1}, 40);
  expect_same_pixels({.size = size, .quality = 100}, 40);
}

INSTANTIATE_TEST_SUITE_P(Simd, CoefficientDecoderOn,
                         testing::ValuesIn(kernels::test::every_target()),
                         kernels::test::target_name);

TEST(CoefficientDecoder, ReadsOnlyTheRowsOfTheRegion) {
  PayloadInMemory stored(test::encode(test::make_sampled_jpeg({.size = {200, 320}})));
  CoefficientDecoder decoder(kMaxPixels);
  ASSERT_TRUE(decode_region(decoder, stored, {50, 160, 60, 8}));
  EXPECT_LT(stored.bytes_read, stored.payload().size() / 4);
}

TEST(CoefficientDecoder, FindsDamage) {
  const std::vector<std::byte> payload = test::encode(test::make_sampled_jpeg({.size = {120, 90}}));
  CoefficientDecoder decoder(kMaxPixels);
  PayloadHead head;
  ASSERT_TRUE(parse_head(payload, head));
  for (std::size_t at = 0; at < head.row_offsets.back(); at += 61) {
    PayloadInMemory stored(payload);
    stored.payload()[at] ^= std::byte{0x40};
    const auto pixels = decode_region(decoder, stored, {0, 0, 120, 90});
    ASSERT_FALSE(pixels) << "byte " << at << " of " << payload.size();
  }
  PayloadInMemory sound(payload);
  EXPECT_TRUE(decode_region(decoder, sound, {0, 0, 120, 90}));
}

TEST(CoefficientDecoder, SaysWhatItCannotRead) {
  const std::vector<std::byte> payload = test::encode(test::make_sampled_jpeg({.size = {120, 90}}));
  PayloadInMemory stored(payload);
  CoefficientDecoder strict(100);
  const auto refused = strict.open(stored.head());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("max_pixels"));

  CoefficientDecoder decoder(kMaxPixels);
  PayloadInMemory part(std::vector<std::byte>(payload.begin(), payload.end() - 400));
  const auto pixels = decode_region(decoder, part, {0, 0, 120, 90});
  ASSERT_FALSE(pixels);
  EXPECT_EQ(pixels.error().code, ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace unstarve::feed
