#include "feed/jpeg/libjpeg/jpeg_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "feed/jpeg/libjpeg/cmyk.h"
#include "feed/testing/collected_rows.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

using testing::HasSubstr;

using test::cut;
constexpr auto decode = [](JpegDecoder& decoder, const std::vector<std::byte>& bytes,
                           const Box& region) {
  return test::decode_region(decoder, bytes, region);
};

JpegDecoder make_decoder(DecodeLimits limits = {}) { return *JpegDecoder::create(limits); }

TEST(JpegDecoder, ARegionHasThePixelsOfAFullDecode) {
  JpegDecoder decoder = make_decoder();
  for (const test::JpegKind kind :
       {test::JpegKind::k420, test::JpegKind::k422, test::JpegKind::k444, test::JpegKind::kGrey,
        test::JpegKind::kProgressive, test::JpegKind::kCmyk}) {
    constexpr int kWidth = 201;
    constexpr int kHeight = 147;
    const std::vector<std::byte> bytes = test::make_jpeg(kind, kWidth, kHeight);
    const auto whole = decode(decoder, bytes, {0, 0, kWidth, kHeight});
    ASSERT_TRUE(whole) << whole.error().message;
    unsigned draw = 7;
    const auto below = [&draw](int bound) {
      draw = draw * 1664525 + 1013904223;
      return static_cast<int>((draw >> 8) % static_cast<unsigned>(bound));
    };
    for (int repeat = 0; repeat < 200; ++repeat) {
      Box box;
      box.x = below(kWidth);
      box.y = below(kHeight);
      box.width = 1 + below(kWidth - box.x);
      box.height = 1 + below(kHeight - box.y);
      const auto region = decode(decoder, bytes, box);
      ASSERT_TRUE(region) << region.error().message;
      ASSERT_EQ(*region, cut(*whole, kWidth, box))
          << "kind " << static_cast<int>(kind) << " box " << box.x << " " << box.y << " "
          << box.width << " " << box.height;
    }
  }
}

TEST(JpegDecoder, TurnsGreyIntoRgb) {
  JpegDecoder decoder = make_decoder();
  const auto pixels =
      decode(decoder, test::make_jpeg(test::JpegKind::kGrey, 33, 17), {0, 0, 33, 17});
  ASSERT_TRUE(pixels);
  for (std::size_t i = 0; i < pixels->size(); i += 3) {
    ASSERT_EQ((*pixels)[i], (*pixels)[i + 1]);
    ASSERT_EQ((*pixels)[i], (*pixels)[i + 2]);
  }
}

TEST(JpegDecoder, TurnsCmykIntoRgbAsPillowDoes) {
  // Values computed with Pillow 13: Image.frombytes("CMYK", ..., "raw", "CMYK;I").convert("RGB").
  std::uint8_t row[] = {255, 255, 255, 255, 0, 255, 255, 255, 200, 100, 50, 180, 10, 20, 30, 0};
  cmyk_to_rgb(row, 4);
  EXPECT_THAT(std::vector<int>(row, row + 12),
              testing::ElementsAre(255, 255, 255, 0, 255, 255, 141, 71, 35, 0, 0, 0));
}

TEST(JpegDecoder, NamesWhatIsWrong) {
  JpegDecoder decoder = make_decoder();
  EXPECT_THAT(decoder.open({}).error().message, HasSubstr("empty"));

  const std::string png = "\x89PNG\r\n\x1a\n and more";
  const auto* start = reinterpret_cast<const std::byte*>(png.data());
  const auto not_jpeg = decoder.open({start, png.size()});
  ASSERT_FALSE(not_jpeg);
  EXPECT_EQ(not_jpeg.error().code, ErrorCode::kCorruptData);
  EXPECT_THAT(not_jpeg.error().message, HasSubstr("Not a JPEG file"));
}

TEST(JpegDecoder, RefusesAFileThatEndsInsideTheRegion) {
  JpegDecoder decoder = make_decoder();
  const std::vector<std::byte> whole = test::make_jpeg(test::JpegKind::k420, 160, 120);
  for (std::size_t size = 0; size < whole.size() - 2; size += 97) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    const auto pixels = decode(decoder, part, {0, 0, 160, 120});
    ASSERT_FALSE(pixels) << size << " of " << whole.size() << " bytes";
    EXPECT_EQ(pixels.error().code, ErrorCode::kCorruptData);
  }
  // The decoder is as good as new afterwards.
  EXPECT_TRUE(decode(decoder, whole, {0, 0, 160, 120}));
}

TEST(JpegDecoder, RefusesDamageUnlessToldToAcceptIt) {
  std::vector<std::byte> bytes = test::make_jpeg(test::JpegKind::k420, 160, 120);
  // A marker in the middle of the entropy-coded data.
  bytes[bytes.size() / 2] = std::byte{0xFF};
  bytes[bytes.size() / 2 + 1] = std::byte{0xD9};
  JpegDecoder strict = make_decoder();
  EXPECT_FALSE(decode(strict, bytes, {0, 0, 160, 120}));
  DecodeLimits limits;
  limits.accept_damaged = true;
  JpegDecoder lenient = make_decoder(limits);
  EXPECT_TRUE(decode(lenient, bytes, {0, 0, 160, 120}));
}

TEST(JpegDecoder, RefusesHugeImagesByTheirHeader) {
  std::vector<std::byte> bytes = test::make_jpeg(test::JpegKind::k420, 64, 64);
  test::patch_size(bytes, 65000, 65000);
  JpegDecoder decoder = make_decoder();
  const auto size = decoder.open(bytes);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(size.error().message, HasSubstr("65000x65000"));
  EXPECT_THAT(size.error().message, HasSubstr("max_pixels"));
}

TEST(JpegDecoder, RefusesEndlessProgressions) {
  DecodeLimits limits;
  limits.max_scans = 3;
  JpegDecoder decoder = make_decoder(limits);
  const auto pixels =
      decode(decoder, test::make_jpeg(test::JpegKind::kProgressive, 64, 64), {0, 0, 64, 64});
  ASSERT_FALSE(pixels);
  EXPECT_THAT(pixels.error().message, HasSubstr("more than 3 scans"));
}

}  // namespace
}  // namespace unstarve::feed
