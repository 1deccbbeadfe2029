#include "feed/tensor/tensor_image.h"

#include <algorithm>
#include <cstring>

#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

Result<ImageSize> TensorImage::open(const EncodedSample& sample) {
  const ImageSize size = sample.image;
  if (size.width <= 0 || size.height <= 0) {
    return fail(ErrorCode::kNotSupported, "an array that is no image of uint8 RGB");
  }
  const auto width = static_cast<std::size_t>(size.width);
  if (sample.bytes.size() != width * static_cast<std::size_t>(size.height) * 3) {
    return fail(ErrorCode::kCorruptData, "{} bytes for an image of {}x{}", sample.bytes.size(),
                size.width, size.height);
  }
  pixels_ = sample.bytes;
  size_ = size;
  return size;
}

Status TensorImage::decode(const Box& region, RowSink& sink) {
  const std::ptrdiff_t stride = std::ptrdiff_t{size_.width} * 3;
  const auto* first = reinterpret_cast<const std::uint8_t*>(pixels_.data());
  const auto row = [&](int y) { return first + y * stride + std::ptrdiff_t{region.x} * 3; };
  // A sink reads past a row's end, which lies in the next row, but for the last one of the image.
  const int end = region.y + region.height;
  const auto rows_to_pad = static_cast<int>((kRowPadding + stride - 1) / stride);
  const int in_place = std::clamp(size_.height - rows_to_pad, region.y, end);
  for (int y = region.y; y < in_place; y += kStripRows) {
    sink.rows(row(y), stride, std::min(kStripRows, in_place - y));
  }
  const std::size_t bytes = static_cast<std::size_t>(region.width) * 3;
  last_row_.resize(std::max(last_row_.size(), bytes + std::size_t{kRowPadding}));
  for (int y = in_place; y < end; ++y) {
    std::memcpy(last_row_.data(), row(y), bytes);
    sink.rows(last_row_.data(), stride, 1);
  }
  return {};
}

}  // namespace unstarve::feed
