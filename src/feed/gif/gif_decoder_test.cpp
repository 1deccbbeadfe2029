#include "feed/gif/gif_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "feed/gif/testing/made_gif.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

using test::GifOptions;
using test::made_gif;
using ::testing::HasSubstr;

constexpr std::int64_t kGifMaxPixels = 1 << 20;

bool box_holds(const Box& box, int x, int y) {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

test::Pixels expected_of_gif(const GifOptions& options, const Box& region) {
  test::Pixels pixels;
  const Box& image = options.image;
  for (int y = region.y; y < region.y + region.height; ++y) {
    for (int x = region.x; x < region.x + region.width; ++x) {
      const int index = box_holds(image, x, y)
                            ? test::made_index(x - image.x, y - image.y, options.bits)
                            : std::max(0, options.transparent);
      const auto grey = static_cast<std::uint8_t>(index);
      const auto colour =
          options.is_grey ? std::array{grey, grey, grey} : test::made_gif_colour(index);
      pixels.insert(pixels.end(), colour.begin(), colour.end());
    }
  }
  return pixels;
}

void expect_gif_pixels(const GifOptions& options, const Box& region) {
  const auto file = made_gif(options);
  GifDecoder decoder(kGifMaxPixels);
  const auto pixels = test::decode_region(decoder, std::span(file), region);
  ASSERT_TRUE(pixels) << pixels.error().message;
  EXPECT_EQ(*pixels, expected_of_gif(options, region));
}

std::string gif_error(const std::vector<std::byte>& file, std::int64_t max_pixels = kGifMaxPixels) {
  GifDecoder decoder(max_pixels);
  const auto size = decoder.open(file);
  if (!size) return size.error().message;
  const auto pixels =
      test::decode_region(decoder, std::span(file), Box{0, 0, size->width, size->height});
  return pixels ? "" : pixels.error().message;
}

TEST(GifDecoder, GivesTheRowsOfARegion) {
  for (const bool interlaced : {false, true}) {
    const GifOptions options = {
        .width = 90, .height = 70, .image = {0, 0, 90, 70}, .is_interlaced = interlaced};
    for (const Box& region : {Box{0, 0, 90, 70}, Box{3, 20, 50, 41}, Box{89, 69, 1, 1}}) {
      expect_gif_pixels(options, region);
    }
  }
}

TEST(GifDecoder, AnInterlacedImageMayHaveFewRows) {
  for (int height = 1; height < 20; ++height) {
    expect_gif_pixels({.height = height, .image = {0, 0, 9, height}, .is_interlaced = true},
                      {0, 0, 9, height});
  }
}

TEST(GifDecoder, MoreStringsThanThereAreCodes) {
  for (const int bits : {2, 5, 8}) {
    const GifOptions options = {
        .width = 300, .height = 300, .image = {0, 0, 300, 300}, .bits = bits, .colour_bits = bits};
    expect_gif_pixels(options, {0, 0, 300, 300});
  }
}

TEST(GifDecoder, AroundASmallerImageIsTheTransparentColourOrTheFirst) {
  for (const int transparent : {-1, 7}) {
    const GifOptions options = {.width = 50,
                                .height = 40,
                                .image = {10, 5, 20, 30},
                                .is_interlaced = true,
                                .transparent = transparent};
    for (const Box& region : {Box{0, 0, 50, 40}, Box{15, 8, 4, 4}, Box{0, 0, 10, 40},
                              Box{25, 30, 10, 10}, Box{40, 0, 3, 40}, Box{3, 37, 30, 2}}) {
      expect_gif_pixels(options, region);
    }
  }
}

TEST(GifDecoder, AnImageMayReachPastTheScreen) {
  const GifOptions options = {.width = 4, .height = 30, .image = {2, 3, 9, 20}};
  expect_gif_pixels(options, {0, 0, 11, 30});
}

TEST(GifDecoder, TheImagesPaletteReplacesTheScreens) {
  expect_gif_pixels({.has_own_palette = true}, {0, 0, 9, 20});
  expect_gif_pixels({.is_grey = true}, {0, 0, 9, 20});
  EXPECT_THAT(gif_error(made_gif({.has_own_palette = true, .is_grey = true})),
              HasSubstr("left to Pillow"));
}

TEST(GifDecoder, AFileThatWasCutIsRefusedWhereverThatWas) {
  const auto whole = made_gif({.has_own_palette = true, .transparent = 3});
  ASSERT_EQ(gif_error(whole), "");
  // Nobody needs the mark of the end, and the empty block before it.
  for (std::size_t size = 0; size < whole.size() - 2; ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    EXPECT_NE(gif_error(cut), "") << size;
  }
}

TEST(GifDecoder, AColourThatThePaletteLacksIsAnError) {
  EXPECT_THAT(gif_error(made_gif({.bits = 4, .colour_bits = 3})),
              HasSubstr("colour 15 of a palette of 8"));
  const GifOptions around = {.width = 99, .transparent = 200};
  EXPECT_THAT(gif_error(made_gif(around)), HasSubstr("colour 200 of a palette of 16"));
  EXPECT_EQ(gif_error(made_gif({.transparent = 200})), "") << "nothing is around it";
}

TEST(GifDecoder, HeadersThatLieAreRefused) {
  EXPECT_THAT(gif_error(made_gif({}), 179), HasSubstr("more than the 179"));
  EXPECT_THAT(gif_error(made_gif({.image = {0, 0, 0, 20}})), HasSubstr("0 x 20"));
  auto huge = made_gif({});
  const std::size_t height_at = 13 + 3 * 16 + 6 + 1 + 6;
  huge[height_at + 1] = std::byte{0x40};
  EXPECT_THAT(gif_error(huge), HasSubstr("cut short"));
}

TEST(GifDecoder, CodesThatStandForNothingAreDamage) {
  auto file = made_gif({.bits = 8, .colour_bits = 8});
  const std::size_t codes_at = 13 + 3 * 256 + 6 + 10 + 2;
  file[codes_at + 2] = std::byte{0xFF};  // of the code that follows the one which clears
  EXPECT_THAT(gif_error(file), HasSubstr("damaged"));
}

TEST(GifDecoder, OtherFilesAreRefused) {
  const std::string other = "GIF88a and so on, for quite a while";
  const auto bytes = std::as_bytes(std::span(other));
  EXPECT_THAT(gif_error({bytes.begin(), bytes.end()}), HasSubstr("no GIF"));
}

}  // namespace
}  // namespace unstarve::feed
