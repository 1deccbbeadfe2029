#include "feed/jpeg/libjpeg/jpeg_loss.h"

#include <gtest/gtest.h>

#include "feed/jpeg/libjpeg/jpeg_encoder.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

std::vector<std::uint8_t> noise(ImageSize size) {
  std::vector<std::uint8_t> pixels;
  unsigned state = 7;
  for (int i = 0; i < 3 * size.width * size.height; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    pixels.push_back(static_cast<std::uint8_t>(state >> 24U));
  }
  return pixels;
}

TEST(JpegLoss, PixelsAreThoseOfTheFile) {
  JpegLoss loss;  // one for all, as in a loading thread
  for (const ImageSize size : {ImageSize{1, 1}, {70, 45}, {16, 16}, {3, 200}, {301, 2}}) {
    for (const int quality : {1, 30, 75, 100}) {
      std::vector<std::uint8_t> pixels = noise(size);
      std::vector<std::byte> file;
      ASSERT_TRUE(encode_jpeg(pixels, size, quality, file));
      auto decoder = JpegDecoder::create({});
      ASSERT_TRUE(decoder);
      const auto expected = test::decode_region(*decoder, file, Box{0, 0, size.width, size.height});
      ASSERT_TRUE(expected) << expected.error().message;
      ASSERT_TRUE(loss.apply(quality, pixels, size));
      EXPECT_EQ(pixels, *expected) << size.width << " x " << size.height << ", " << quality;
    }
  }
}

TEST(JpegLoss, PixelsOfAnotherSizeAreRefused) {
  std::vector<std::uint8_t> pixels = noise({4, 4});
  EXPECT_FALSE(JpegLoss().apply(50, pixels, {4, 5}));
}

}  // namespace
}  // namespace unstarve::feed
