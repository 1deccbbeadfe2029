#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "feed/jpeg/baseline/baseline_decoder.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

using test::decode_region;
using test::Pixels;

/// Whatever happened to a file: where ours has an answer, libjpeg has the same.
TEST(Decoders, AgreeOnDamagedFiles) {
  constexpr std::int64_t kMaxPixels = 100'000;
  BaselineDecoder ours(kMaxPixels);
  JpegDecoder libjpeg = *JpegDecoder::create({.max_pixels = kMaxPixels});
  std::mt19937 random(9);
  int answered = 0;
  for (unsigned round = 0; round < 10'000; ++round) {
    const test::JpegRecipe recipe = {.sampling = test::kSamplings[round % test::kSamplings.size()],
                                     .size = {70, 50},
                                     .restart_interval = round % 3 == 0 ? 2 : 0};
    std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    if (round % 4 == 0) jpeg.resize(jpeg.size() - random() % (jpeg.size() / 2));
    const std::size_t changes = round % 5;
    for (std::size_t change = 0; change < changes; ++change) {
      jpeg[random() % jpeg.size()] = static_cast<std::byte>(random());
    }
    const Result<ImageSize> size = ours.open(jpeg);
    if (!size) continue;
    const int top = static_cast<int>(random() % unsigned(size->height));
    const Box box = {0, top, size->width, size->height - top};
    const Result<Pixels> pixels = decode_region(ours, jpeg, box);
    if (!pixels) continue;
    ++answered;
    const Result<Pixels> expected = decode_region(libjpeg, jpeg, box);
    ASSERT_TRUE(expected) << "round " << round << ": " << expected.error().message;
    ASSERT_EQ(*pixels, *expected) << "round " << round;
  }
  EXPECT_GT(answered, 1000);
}

}  // namespace
}  // namespace unstarve::feed
