#include "feed/coefficients/baseline/baseline_decoder.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "feed/coefficients/test_payload.h"
#include "feed/data/test_jpeg.h"
#include "kernels/every_target_for_test.h"

namespace unstarve::feed {
namespace {

using Pixels = std::vector<std::uint8_t>;

class Collect final : public RowSink {
 public:
  explicit Collect(int width) : width_(width) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row) {
      const std::uint8_t* of_row = first + row * stride;
      pixels.insert(pixels.end(), of_row, of_row + std::ptrdiff_t{width_} * 3);
    }
  }
  Pixels pixels;

 private:
  int width_;
};

/// What libjpeg makes of the whole file, as RGB.
Pixels expected_pixels(const std::vector<std::byte>& jpeg, const test::JpegRecipe& recipe) {
  const Pixels whole = test::pixels_of_jpeg(jpeg);
  if (recipe.sampling.components == 3) return whole;
  Pixels rgb;
  for (const std::uint8_t grey : whole) rgb.insert(rgb.end(), 3, grey);
  return rgb;
}

Pixels cut(const Pixels& whole, int whole_width, const Box& box) {
  Pixels result;
  for (int y = box.y; y < box.y + box.height; ++y) {
    const auto* row = whole.data() + 3 * (std::ptrdiff_t{y} * whole_width + box.x);
    result.insert(result.end(), row, row + 3 * std::ptrdiff_t{box.width});
  }
  return result;
}

/// Whether all components fit into one scan: an MCU has at most 10 blocks.
bool is_one_scan(const test::Sampling& sampling) {
  if (sampling.components == 1) return true;
  return sampling.luma[0] * sampling.luma[1] + 2 * sampling.chroma[0] * sampling.chroma[1] <= 10;
}

class BaselineDecoderOn : public kernels::test::EveryTarget {
 protected:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  Box random_box(ImageSize size) {
    Box box;
    box.x = below(size.width);
    box.y = below(size.height);
    box.width = 1 + below(size.width - box.x);
    box.height = 1 + below(size.height - box.y);
    if (below(3) == 0) box.width = size.width - box.x;
    if (below(3) == 0) box.height = size.height - box.y;
    return box;
  }

  void expect_same_pixels(const test::JpegRecipe& recipe, int crops) {
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    const Pixels whole = expected_pixels(jpeg, recipe);
    for (int repeat = 0; repeat < crops; ++repeat) {
      const Result<ImageSize> size = decoder_.open(jpeg);
      ASSERT_TRUE(size) << size.error().message;
      const Box box = repeat == 0 ? Box{0, 0, size->width, size->height} : random_box(*size);
      Collect sink(box.width);
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

    const Box box = random_box(recipe.size);
    Collect sink(box.width);
    std::vector<std::byte> beside;
    ASSERT_TRUE(decoder_.open(jpeg));
    ASSERT_TRUE(decoder_.decode_and_encode(box, sink, beside));
    EXPECT_EQ(beside, alone);
    EXPECT_EQ(sink.pixels, cut(expected_pixels(jpeg, recipe), recipe.size.width, box));
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
