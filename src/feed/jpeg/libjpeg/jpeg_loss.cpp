#include "feed/jpeg/libjpeg/jpeg_loss.h"

#include <algorithm>
#include <limits>

#include "feed/jpeg/libjpeg/jpeg_encoder.h"

namespace unstarve::feed {
namespace {

/// Writes rows where those of the encoded image stood.
class RowsInPlace final : public RowSink {
 public:
  RowsInPlace(std::uint8_t* pixels, int width) : next_(pixels), row_bytes_(3 * width) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row) {
      next_ = std::copy_n(first + row * stride, row_bytes_, next_);
    }
  }

 private:
  std::uint8_t* next_;
  int row_bytes_;
};

}  // namespace

Status JpegLoss::apply(int quality, std::span<std::uint8_t> pixels, ImageSize size) {
  if (Status status = encode_jpeg(pixels, size, quality, file_); !status) return status;
  if (!decoder_) {
    // Its size is the caller's own.
    const DecodeLimits limits{.max_pixels = std::numeric_limits<std::int64_t>::max()};
    Result<JpegDecoder> made = JpegDecoder::create(limits);
    if (!made) return forward_error(made);
    decoder_ = std::move(*made);
  }
  if (Result<ImageSize> read = decoder_->open(file_); !read) return forward_error(read);
  RowsInPlace sink(pixels.data(), size.width);
  return decoder_->decode(Box{0, 0, size.width, size.height}, sink);
}

}  // namespace unstarve::feed
