#include "feed/tiff/tiff_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "feed/data/inks.h"
#include "feed/testing/collected_rows.h"
#include "feed/tiff/testing/made_tiff.h"

namespace unstarve::feed {
namespace {

using test::made_tiff;
using test::TiffOptions;
using ::testing::HasSubstr;

constexpr std::int64_t kTiffMaxPixels = 1 << 20;

std::array<std::uint8_t, 3> colour_of(const TiffOptions& options, int x, int y) {
  const auto sample = [&](std::uint32_t i) {
    return static_cast<std::uint8_t>(test::made_sample(options, x, y, i));
  };
  const unsigned last = (1U << options.bits) - 1;
  const auto light = static_cast<std::uint8_t>(sample(0) * 255U / last);
  const auto dark = static_cast<std::uint8_t>(255 - light);
  const auto part = [&](std::uint32_t i) {
    return static_cast<std::uint8_t>(test::made_tiff_colour(sample(0), i) >> 8);
  };
  switch (options.photometric) {
    case 0: return {dark, dark, dark};
    case 1: return {light, light, light};
    case 2: return {sample(0), sample(1), sample(2)};
    case 3: return {part(0), part(1), part(2)};
    default: return rgb_of_inks({sample(0), sample(1), sample(2)}, 255 - sample(3));
  }
}

void expect_tiff_pixels(const TiffOptions& options) {
  const auto file = made_tiff(options);
  TiffDecoder decoder(kTiffMaxPixels);
  for (const Box& region : {Box{0, 0, options.width, options.height}, Box{3, 5, 11, 9},
                            Box{options.width - 1, options.height - 1, 1, 1}}) {
    const auto pixels = test::decode_region(decoder, std::span(file), region);
    ASSERT_TRUE(pixels) << pixels.error().message;
    test::Pixels wanted;
    for (int y = region.y; y < region.y + region.height; ++y) {
      for (int x = region.x; x < region.x + region.width; ++x) {
        const auto colour = colour_of(options, x, y);
        wanted.insert(wanted.end(), colour.begin(), colour.end());
      }
    }
    EXPECT_EQ(*pixels, wanted) << options.photometric << ", " << options.bits << " bits";
  }
}

std::string tiff_error(const std::vector<std::byte>& file, std::int64_t most = kTiffMaxPixels) {
  TiffDecoder decoder(most);
  const auto size = decoder.open(file);
  if (!size) return size.error().message;
  const Box whole = {0, 0, size->width, size->height};
  const auto pixels = test::decode_region(decoder, std::span(file), whole);
  return pixels ? "" : pixels.error().message;
}

TEST(TiffDecoder, GivesColoursOfEveryKind) {
  for (const std::uint32_t bits : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t photometric : {0U, 1U, 3U}) {
      expect_tiff_pixels({.photometric = photometric, .samples = 1, .bits = bits});
    }
  }
  expect_tiff_pixels({});
  expect_tiff_pixels({.samples = 4, .extra = {2}});
  expect_tiff_pixels({.samples = 6, .extra = {0, 0, 0}});
  expect_tiff_pixels({.photometric = 1, .samples = 2, .extra = {2}});
  expect_tiff_pixels({.photometric = 5, .samples = 4});
  expect_tiff_pixels({.photometric = 5, .samples = 5, .extra = {0}});
}

TEST(TiffDecoder, StripsAndTilesOfEveryPacking) {
  for (const std::uint32_t compression : {1U, 5U, 32773U}) {
    for (const bool is_big_endian : {false, true}) {
      TiffOptions options = {.compression = compression, .is_big_endian = is_big_endian};
      expect_tiff_pixels(options);
      options.piece_height = 1000;
      expect_tiff_pixels(options);
      options.piece_width = options.piece_height = 16;
      expect_tiff_pixels(options);
    }
  }
  expect_tiff_pixels(
      {.compression = 5, .piece_width = 16, .piece_height = 16, .is_differences = true});
  expect_tiff_pixels({.width = 40, .height = 100, .piece_height = 90});  // more than a strip
}

TEST(TiffDecoder, AFileThatWasCutIsRefusedWhereverThatWas) {
  for (const std::uint32_t compression : {1U, 5U}) {
    const auto whole = made_tiff({.compression = compression});
    ASSERT_EQ(tiff_error(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_NE(tiff_error(cut), "") << size;
    }
  }
}

TEST(TiffDecoder, WhatItDoesNotKnowIsLeftToPillowByName) {
  const auto error_with = [](std::uint16_t tag, test::TagValues values) {
    return tiff_error(made_tiff({.other_tags = {{tag, std::move(values)}}}));
  };
  EXPECT_THAT(error_with(259, {7}), HasSubstr("compression 7: left to Pillow"));
  EXPECT_THAT(error_with(262, {6}), HasSubstr("colours 6 in 3 samples"));
  EXPECT_THAT(error_with(266, {2}), HasSubstr("reversed bits"));
  EXPECT_THAT(error_with(274, {6}), HasSubstr("to be turned"));
  EXPECT_THAT(error_with(284, {2}), HasSubstr("in planes"));
  EXPECT_THAT(error_with(258, {8, 8, 4}), HasSubstr("3 samples of 0 bits"));
  EXPECT_THAT(error_with(258, {16, 16, 16}), HasSubstr("3 samples of 16 bits"));
  EXPECT_THAT(error_with(339, {3, 3, 3}), HasSubstr("format 3"));
  EXPECT_THAT(error_with(338, {1}), HasSubstr("1 of them extra"));
  EXPECT_THAT(error_with(317, {2}), HasSubstr("predictor 2"));
  EXPECT_THAT(error_with(700, {0x65697250, 0x6E74}), testing::Eq(""));
  EXPECT_THAT(error_with(700, {0x6569724F, 0x7461746E, 0x6E6F69}), HasSubstr("XMP"));
  EXPECT_THAT(
      tiff_error(made_tiff(
          {.compression = 5, .photometric = 1, .samples = 1, .bits = 4, .is_differences = true})),
      HasSubstr("1 samples of 4 bits"));
}

TEST(TiffDecoder, TagsThatLieAreRefused) {
  EXPECT_THAT(tiff_error(made_tiff({}), 419), HasSubstr("more than the 419"));
  EXPECT_THAT(tiff_error(made_tiff({.other_tags = {{257, {0}}}})), HasSubstr("21 x 0"));
  EXPECT_THAT(tiff_error(made_tiff({.other_tags = {{278, {0}}}})), HasSubstr("without rows"));
  EXPECT_THAT(tiff_error(made_tiff({.other_tags = {{279, {9}}}})), HasSubstr("names"));
  EXPECT_THAT(tiff_error(made_tiff({.other_tags = {{278, {0x80000000}}}})),
              HasSubstr("rows: left"));
  EXPECT_EQ(tiff_error(made_tiff({.piece_height = 20, .other_tags = {{278, {UINT32_MAX}}}})), "");
  EXPECT_THAT(tiff_error(made_tiff({.other_tags = {{273, {8, 9, 0xFFFFFFFF}}}})),
              HasSubstr("cut short"));
  EXPECT_THAT(tiff_error(made_tiff(
                  {.height = 60, .piece_height = 30, .other_tags = {{257, {30}}, {278, {15}}}})),
              HasSubstr("bytes where"));
  auto unordered = made_tiff({.other_tags = {{65000, {1}}}});
  unordered[unordered.size() - 16] = std::byte{1};
  unordered[unordered.size() - 15] = std::byte{0};
  EXPECT_THAT(tiff_error(unordered), HasSubstr("not in order"));
}

TEST(TiffDecoder, PackedPiecesThatAreDamagedAreErrors) {
  auto runs = made_tiff({.compression = 32773});
  runs[9] = std::byte{0x81};  // the first run is 128 long
  runs[11] = std::byte{0x81};
  for (std::size_t at = 13; at < 600; ++at) runs[at] = std::byte{0x81};
  EXPECT_THAT(tiff_error(runs), HasSubstr("run that is too long"));
  auto codes = made_tiff({.compression = 5});
  codes[8] = std::byte{0};  // no longer one that clears
  EXPECT_THAT(tiff_error(codes), HasSubstr("no such code"));
}

TEST(TiffDecoder, KnowsWhatIsRgbAndUpright) {
  EXPECT_TRUE(tiff_is_rgb(made_tiff({})));
  EXPECT_TRUE(tiff_is_rgb(made_tiff({.samples = 4, .extra = {0}})));
  EXPECT_FALSE(tiff_is_rgb(made_tiff({.samples = 4})));
  EXPECT_FALSE(tiff_is_rgb(made_tiff({.samples = 4, .extra = {2}})));
  EXPECT_FALSE(tiff_is_rgb(made_tiff({.photometric = 1, .samples = 1})));
  EXPECT_FALSE(tiff_is_rgb({}));
  EXPECT_FALSE(tiff_may_turn(made_tiff({})));
  EXPECT_TRUE(tiff_may_turn(made_tiff({.other_tags = {{274, {8}}}})));
  EXPECT_TRUE(tiff_may_turn({}));
}

}  // namespace
}  // namespace unstarve::feed
