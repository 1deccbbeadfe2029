#include "feed/tensor/tensor_image.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/resize.h"

namespace unstarve::feed {
namespace {

/// Keeps the rows' pixels, and reads as far as a sink may.
class CollectingSink final : public RowSink {
 public:
  explicit CollectingSink(int width) : bytes_(static_cast<std::size_t>(width) * 3) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row) {
      const std::uint8_t* begin = first + row * stride;
      pixels.insert(pixels.end(), begin, begin + bytes_);
      for (std::ptrdiff_t i = 0; i < kernels::kRowPadding; ++i) padding += begin[i + past()];
    }
  }
  std::ptrdiff_t past() const { return static_cast<std::ptrdiff_t>(bytes_); }

  std::vector<std::uint8_t> pixels;
  unsigned padding = 0;

 private:
  std::size_t bytes_;
};

TEST(TensorImage, HandsOverAnyRegion) {
  for (const ImageSize size : {ImageSize{1, 1}, {1, 40}, {3, 70}, {50, 45}, {200, 2}}) {
    const auto count = static_cast<std::size_t>(size.width * size.height) * 3;
    // Exactly as large as the image, so that AddressSanitizer sees what is read past it.
    const std::unique_ptr<std::byte[]> bytes(new std::byte[count]);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = std::byte(i * 7 % 251);
    EncodedSample sample{SampleForm::kTensor, {bytes.get(), count}};
    sample.image = size;
    TensorImage image;
    ASSERT_TRUE(image.open(sample));
    const Box region = {size.width / 3, size.height / 3, size.width - size.width / 3,
                        size.height - size.height / 3};
    CollectingSink sink(region.width);
    ASSERT_TRUE(image.decode(region, sink));
    ASSERT_EQ(sink.pixels.size(), std::size_t(region.width * region.height) * 3);
    std::size_t next = 0;
    for (int y = 0; y < region.height; ++y) {
      for (int x = 0; x < region.width * 3; ++x) {
        const int at = ((region.y + y) * size.width + region.x) * 3 + x;
        ASSERT_EQ(sink.pixels[next++], at * 7 % 251);
      }
    }
  }
}

TEST(TensorImage, RefusesWhatIsNoImage) {
  TensorImage image;
  EncodedSample sample;
  sample.form = SampleForm::kTensor;
  EXPECT_EQ(image.open(sample).error().code, ErrorCode::kNotSupported);
  sample.image = {2, 2};
  EXPECT_EQ(image.open(sample).error().code, ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace unstarve::feed
