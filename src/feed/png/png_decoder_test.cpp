#include "feed/png/png_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "feed/png/testing/made_png.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

using test::FileBytes;
using test::made_png;
using test::PngOptions;
using ::testing::HasSubstr;
using PngRows = std::vector<std::uint8_t>;

constexpr std::int64_t kMostPngPixels = 1 << 20;

Result<test::Pixels> decoded_png(const FileBytes& file, const Box& region,
                                 std::int64_t max_pixels = kMostPngPixels) {
  PngDecoder decoder(max_pixels);
  return test::decode_region(decoder, std::span(file), region);
}

std::string png_error(const FileBytes& file, const Box& region = {0, 0, 1, 1},
                      std::int64_t max_pixels = kMostPngPixels) {
  const auto pixels = decoded_png(file, region, max_pixels);
  return pixels ? "" : pixels.error().message;
}

/// Rows of `bytes` each, with no filter or, by turns, with each of them.
PngRows png_rows(std::size_t bytes, int rows, bool is_filtered) {
  std::mt19937 random(3);
  PngRows raw;
  for (int y = 0; y < rows; ++y) {
    raw.push_back(static_cast<std::uint8_t>(is_filtered ? y % 5 : 0));
    for (std::size_t i = 0; i < bytes; ++i) raw.push_back(static_cast<std::uint8_t>(random()));
  }
  return raw;
}

TEST(PngDecoder, GivesTheRowsOfARegion) {
  const PngOptions options = {.width = 9, .height = 70, .pieces = 4};  // more than a strip of rows
  const PngRows raw = png_rows(27, 70, false);
  test::Pixels whole;
  for (std::size_t y = 0; y < 70; ++y) {
    whole.insert(whole.end(), raw.begin() + std::ptrdiff_t(28 * y + 1),
                 raw.begin() + std::ptrdiff_t(28 * (y + 1)));
  }
  for (const Box& region : {Box{0, 0, 9, 70}, Box{3, 20, 5, 41}, Box{8, 69, 1, 1}}) {
    const auto pixels = decoded_png(made_png(options, raw), region);
    ASSERT_TRUE(pixels) << pixels.error().message;
    EXPECT_EQ(*pixels, test::cut(whole, 9, region));
  }
}

TEST(PngDecoder, FiltersReachAsFarAsARegion) {
  for (const auto& [colour, bytes] : {std::pair{2, 27}, {6, 36}, {0, 9}}) {
    const PngOptions options = {
        .width = 9, .height = 70, .colour = static_cast<std::uint8_t>(colour)};
    const auto file = made_png(options, png_rows(static_cast<std::size_t>(bytes), 70, true));
    const auto whole = decoded_png(file, {0, 0, 9, 70});
    const auto part = decoded_png(file, {2, 30, 3, 31});
    ASSERT_TRUE(whole && part);
    EXPECT_EQ(*part, test::cut(*whole, 9, {2, 30, 3, 31})) << "colour type " << colour;
  }
}

TEST(PngDecoder, EachKindOfColour) {
  const auto one_row = [](std::uint8_t colour, std::uint8_t depth, PngRows raw) {
    const PngOptions options = {.width = 2,
                                .height = 1,
                                .depth = depth,
                                .colour = colour,
                                .palette = colour == 3 ? PngRows{1, 2, 3, 4, 5, 6} : PngRows{}};
    return *decoded_png(made_png(options, raw), {0, 0, 2, 1});
  };
  EXPECT_EQ(one_row(0, 1, {0, 0b0100'0000}), (PngRows{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(one_row(0, 2, {0, 0b0110'0000}), (PngRows{85, 85, 85, 170, 170, 170}));
  EXPECT_EQ(one_row(0, 4, {0, 0x1E}), (PngRows{17, 17, 17, 238, 238, 238}));
  EXPECT_EQ(one_row(0, 8, {0, 7, 9}), (PngRows{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(one_row(3, 1, {0, 0b0100'0000}), (PngRows{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(one_row(3, 8, {0, 1, 0}), (PngRows{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(one_row(4, 8, {0, 7, 99, 9, 0}), (PngRows{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(one_row(4, 16, {0, 7, 1, 99, 1, 9, 1, 0, 1}), (PngRows{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(one_row(2, 16, {0, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9}), (PngRows{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(one_row(6, 8, {0, 1, 2, 3, 9, 4, 5, 6, 9}), (PngRows{1, 2, 3, 4, 5, 6}));
}

TEST(PngDecoder, StoredSamplesAreThoseThatPilLoads) {
  const auto stored = [](std::uint8_t colour, std::uint8_t depth, const PngRows& raw) {
    const PngOptions options = {.width = 2,
                                .height = 1,
                                .depth = depth,
                                .colour = colour,
                                .palette = colour == 3 ? PngRows{1, 2, 3} : PngRows{}};
    const auto file = made_png(options, raw);
    PngDecoder decoder(kMostPngPixels);
    EXPECT_TRUE(decoder.open(file));
    EXPECT_EQ(decoder.decode_stored({}).error().code, ErrorCode::kInvalidArgument);
    const std::size_t channels = colour == 6 ? 4 : colour == 4 ? 2 : colour == 2 ? 3 : 1;
    PngRows out(2 * channels);
    const Status status = decoder.decode_stored(out);
    EXPECT_TRUE(status);
    return out;
  };
  EXPECT_EQ(stored(0, 4, {0, 0x1E}), (PngRows{17, 238}));
  EXPECT_EQ(stored(3, 2, {0, 0b1101'0000}), (PngRows{3, 1}));  // the palette has no such colours
  EXPECT_EQ(stored(4, 8, {1, 7, 99, 2, 1}), (PngRows{7, 99, 9, 100}));
  EXPECT_EQ(stored(6, 8, {0, 1, 2, 3, 4, 5, 6, 7, 8}), (PngRows{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(stored(2, 16, {0, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9}), (PngRows{1, 2, 3, 4, 5, 6}));
}

TEST(PngDecoder, SaysWhetherAFileEndsSoundly) {
  FileBytes file = made_png({.pieces = 2}, png_rows(15, 3, false));
  PngDecoder decoder(kMostPngPixels);
  ASSERT_TRUE(decoder.open(file));
  EXPECT_TRUE(decoder.ends_soundly());
  file[file.size() - 13] ^= std::byte{1};  // the last of the second piece's, before the end
  ASSERT_TRUE(decoder.open(file));
  EXPECT_FALSE(decoder.ends_soundly());
  FileBytes with_words = made_png({}, png_rows(15, 3, false));
  FileBytes words;
  test::append_chunk(words, "tEXt", {});
  with_words.insert(with_words.end() - 12, words.begin(), words.end());
  ASSERT_TRUE(decoder.open(with_words));
  EXPECT_FALSE(decoder.ends_soundly());
}

// Seven passes: with 3 x 3 pixels, those at (0, 0), (2, 0), (0, 2), (2, 2), (1, 0), (1, 2), and the
// middle row.
TEST(PngDecoder, InterlacedOnesAreReadInTheirOrder) {
  const PngOptions options = {.width = 3, .height = 3, .colour = 0, .interlaced = 1};
  const PngRows raw = {0, 1, 0, 3, 0, 7, 9, 0, 2, 0, 8, 0, 4, 5, 6};
  const auto pixels = decoded_png(made_png(options, raw), {0, 0, 3, 3});
  ASSERT_TRUE(pixels) << pixels.error().message;
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ((*pixels)[3 * i], i + 1) << i;
}

TEST(PngDecoder, AFileThatWasCutIsRefusedWhereverThatWas) {
  for (const std::uint8_t interlaced : {std::uint8_t{0}, std::uint8_t{1}}) {
    const auto whole = made_png({.colour = 0, .interlaced = interlaced, .pieces = 3},
                                png_rows(5, interlaced == 1 ? 6 : 3, false));
    constexpr std::size_t kEnd = 12;  // what stands after the pixels
    for (std::size_t size = 0; size < whole.size() - kEnd; ++size) {
      const FileBytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_NE(png_error(cut), "") << size << " bytes";
    }
  }
}

TEST(PngDecoder, WhatPilAloneShouldJudgeIsRefusedByName) {
  EXPECT_THAT(png_error(made_png({.depth = 16, .colour = 0}, png_rows(10, 3, false))),
              HasSubstr("16 bits of grey"));
  EXPECT_THAT(png_error(made_png({.colour = 3}, png_rows(5, 3, false))),
              HasSubstr("colours that it does not name"));
  EXPECT_THAT(png_error(made_png({.width = 1, .height = 1, .colour = 3, .palette = {1, 2, 3}},
                                 PngRows{0, 1})),
              HasSubstr("colour 1 of a palette of 1"));
  EXPECT_THAT(png_error(made_png({.colour = 2, .palette = PngRows(4)}, png_rows(15, 3, false))),
              HasSubstr("4 bytes of colours"));
  EXPECT_THAT(png_error(made_png({}, png_rows(15, 3, false)), {0, 0, 1, 1}, 14),
              HasSubstr("more than the 14"));
}

TEST(PngDecoder, PartsThatMatterAndAreNotKnownAreRefused) {
  const auto with = [](std::string_view kind) {
    FileBytes file = made_png({}, png_rows(15, 3, false));
    FileBytes part;
    test::append_chunk(part, kind, {});
    file.insert(file.begin() + 33, part.begin(), part.end());
    return file;
  };
  EXPECT_EQ(png_error(with("teXt")), "");
  EXPECT_THAT(png_error(with("CgBI")), HasSubstr("critical"));
  EXPECT_THAT(png_error(with("acTL")), HasSubstr("animation"));
  EXPECT_THAT(png_error(with("IHDR")), HasSubstr("header"));
}

TEST(PngDecoder, WhatIsDamagedIsAnError) {
  const FileBytes whole = made_png({}, png_rows(15, 3, false));
  constexpr std::size_t kAfterPixels = 16;  // their checksum, which is not looked at, and the end
  for (std::size_t at = 0; at < whole.size() - kAfterPixels; ++at) {
    FileBytes damaged = whole;
    damaged[at] ^= std::byte{0x01};
    EXPECT_NE(png_error(damaged), "") << "byte " << at;
  }
  EXPECT_THAT(png_error(made_png({}, png_rows(15, 2, false))), HasSubstr("cut short"));
  EXPECT_THAT(png_error(made_png({}, png_rows(15, 4, false))), HasSubstr("more than its image"));
  PngRows raw = png_rows(15, 3, false);
  raw[0] = 5;
  EXPECT_THAT(png_error(made_png({}, raw)), HasSubstr("filter 5"));
  EXPECT_THAT(png_error(made_png({.width = 0}, raw)), HasSubstr("0 x 3"));
  EXPECT_THAT(png_error(made_png({.depth = 3}, raw)), HasSubstr("3 bits"));
  EXPECT_THAT(png_error(made_png({.interlaced = 2}, raw)), HasSubstr("method 0, 0, 2"));
}

// 1000 x 1000 pixels that a few bytes cannot hold: no memory is taken for them.
TEST(PngDecoder, AnImageThatItsBytesCannotHoldIsRefused) {
  EXPECT_THAT(png_error(made_png({.width = 1000, .height = 1000}, PngRows{0})),
              HasSubstr("cut short"));
}

}  // namespace
}  // namespace unstarve::feed
