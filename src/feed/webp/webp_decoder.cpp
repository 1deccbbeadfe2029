#include "feed/webp/webp_decoder.h"

#include <webp/decode.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "feed/data/decode_errors.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

constexpr std::size_t kRiffHeader = 12;  // "RIFF", how many bytes follow, "WEBP"

const std::uint8_t* first_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

std::size_t bytes_by_header(std::span<const std::byte> file) {
  std::uint32_t follow = 0;
  std::memcpy(&follow, file.data() + 4, sizeof(follow));  // little-endian, as we are
  return std::size_t{follow} + 8;
}

Status status_of(VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OK: return {};
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return cut_short();
    case VP8_STATUS_OUT_OF_MEMORY: return fail(ErrorCode::kOutOfMemory, "no memory for a WebP");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return fail(ErrorCode::kNotSupported, "a WebP with something that libwebp does not know");
    case VP8_STATUS_INVALID_PARAM:
    case VP8_STATUS_BITSTREAM_ERROR:
    case VP8_STATUS_USER_ABORT: break;
  }
  return fail(ErrorCode::kCorruptData, "a WebP that is damaged");
}

/// A region with what its pixels depend on around it: colours have half the resolution, and are
/// told by those to all sides. Begins at even pixels.
Box with_margin(const Box& region, const ImageSize& size) {
  constexpr int kMargin = 2;
  const int left = std::max(0, region.x - kMargin) & ~1;
  const int top = std::max(0, region.y - kMargin) & ~1;
  const int right = std::min(size.width, region.x + region.width + kMargin);
  const int bottom = std::min(size.height, region.y + region.height + kMargin);
  return {left, top, right - left, bottom - top};
}

}  // namespace

bool is_webp(std::span<const std::byte> file) {
  if (file.size() < kRiffHeader) return false;
  const std::string_view begin(reinterpret_cast<const char*>(file.data()), kRiffHeader);
  return begin.substr(0, 4) == "RIFF" && begin.substr(8) == "WEBP";
}

Result<ImageSize> WebpDecoder::open(std::span<const std::byte> file) {
  if (!is_webp(file)) return fail(ErrorCode::kNotSupported, "no WebP");
  if (bytes_by_header(file) > file.size()) {
    return cut_short();
  }
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(first_of(file), file.size(), &features);
  if (Status status = status_of(code); !status) return forward_error(status);
  if (features.has_animation != 0) {
    return fail(ErrorCode::kNotSupported, "a WebP with an animation");
  }
  if (features.width <= 0 || features.height <= 0) {
    return fail(ErrorCode::kCorruptData, "a WebP of {} x {} pixels", features.width,
                features.height);
  }
  if (Status status = check_pixels(features.width, features.height, max_pixels_); !status)
    return forward_error(status);
  file_ = file;
  size_ = {features.width, features.height};
  return size_;
}

Status WebpDecoder::decode(const Box& region, RowSink& sink) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return fail(ErrorCode::kNotSupported, "another version of libwebp than this was built with");
  }
  const Box box = with_margin(region, size_);
  config.options.use_cropping = 1;
  config.options.crop_left = box.x;
  config.options.crop_top = box.y;
  config.options.crop_width = box.width;
  config.options.crop_height = box.height;
  const std::size_t stride = static_cast<std::size_t>(box.width) * 3;
  const std::size_t bytes = stride * static_cast<std::size_t>(box.height);
  pixels_.resize(std::max(pixels_.size(), bytes + kRowPadding));
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels_.data(), static_cast<int>(stride), bytes};
  const VP8StatusCode code = WebPDecode(first_of(file_), file_.size(), &config);
  if (Status status = status_of(code); !status) return status;
  const std::uint8_t* row = pixels_.data() + stride * static_cast<std::size_t>(region.y - box.y) +
                            std::ptrdiff_t{3} * (region.x - box.x);
  for (int y = 0; y < region.height; y += kStripRows) {
    const int count = std::min(kStripRows, region.height - y);
    sink.rows(row, static_cast<std::ptrdiff_t>(stride), count);
    row += stride * static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace unstarve::feed
