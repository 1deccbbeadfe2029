#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "feed/coefficients/baseline/baseline_decoder.h"
#include "feed/coefficients/test_payload.h"
#include "feed/decode/jpeg_decoder.h"

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

Result<Pixels> decode_with(auto& decoder, const std::vector<std::byte>& jpeg, const Box& region) {
  const Result<ImageSize> size = decoder.open(jpeg);
  if (!size) return forward_error(size);
  Collect sink(region.width);
  if (Status status = decoder.decode(region, sink); !status) return forward_error(status);
  return std::move(sink.pixels);
}

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
    const Result<Pixels> pixels = decode_with(ours, jpeg, box);
    if (!pixels) continue;
    ++answered;
    const Result<Pixels> expected = decode_with(libjpeg, jpeg, box);
    ASSERT_TRUE(expected) << "round " << round << ": " << expected.error().message;
    ASSERT_EQ(*pixels, *expected) << "round " << round;
  }
  EXPECT_GT(answered, 1000);
}

}  // namespace
}  // namespace unstarve::feed
