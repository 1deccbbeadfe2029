#include "feed/pipeline/image_cutter.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace unstarve::feed {
namespace {

/// The longest side of a target, of which nothing but the window is made.
constexpr int kLongest = 1 << 16;

bool has_pixels(int width, int height) { return width > 0 && height > 0; }

/// Numbers from outside: sums of two of them must not overflow.
bool is_within(int first, int count, int size) {
  return first >= 0 && count <= size && first <= size - count;
}

bool meets(int first, int count, int size) {
  return std::abs(std::int64_t{first}) <= kLongest && first < size &&
         std::int64_t{first} + count > 0;
}

Status check(const SampleGeometry& geometry, std::int64_t max_pixels) {
  const Box& crop = geometry.crop;
  const Box& window = geometry.window;
  const ImageSize& target = geometry.target;
  const bool has_sizes = has_pixels(crop.width, crop.height) &&
                         has_pixels(target.width, target.height) &&
                         has_pixels(window.width, window.height);
  const bool is_small = std::max(target.width, target.height) <= kLongest &&
                        std::int64_t{window.width} * window.height <= max_pixels;
  if (has_sizes && is_small && meets(window.x, window.width, target.width) &&
      meets(window.y, window.height, target.height)) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "a window of {} x {} at {}, {} of an image of {} x {} pixels", window.width,
              window.height, window.x, window.y, target.width, target.height);
}

}  // namespace

ImageCutter::ImageCutter(const DecodeLimits& limits)
    : max_pixels_(limits.max_pixels), formats_(limits), sink_(clock_) {}

Status ImageCutter::cut(std::span<const std::byte> file, const SampleGeometry& geometry,
                        std::span<std::uint8_t> out) {
  if (Status status = check(geometry, max_pixels_); !status) return status;
  const Box& window = geometry.window;
  const auto pixels =
      static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height);
  if (out.size() != 3 * pixels) {
    return fail(ErrorCode::kInvalidArgument, "the pixels take {} bytes, not {}", 3 * pixels,
                out.size());
  }
  try {
    const Result<ImageFormat*> format = formats_.find(file);
    if (!format) return forward_error(format);
    if (Status whole = (*format)->check_whole(file); !whole) return whole;
    // The first decoder that takes it; the last one's word is the file's.
    Status status;
    for (ImageDecoder* const decoder : (*format)->decoders()) {
      status = decode(*decoder, file, geometry, out.data());
      if (status) break;
    }
    return status;
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(Error{ErrorCode::kOutOfMemory, "no memory to decode an image", 0});
  }
}

Status ImageCutter::decode(ImageDecoder& decoder, std::span<const std::byte> file,
                           const SampleGeometry& geometry, std::uint8_t* out) {
  const Result<ImageSize> size = decoder.open(file);
  if (!size) return forward_error(size);
  const Box& crop = geometry.crop;
  if (!is_within(crop.x, crop.width, size->width) ||
      !is_within(crop.y, crop.height, size->height)) {
    return fail(ErrorCode::kInvalidArgument,
                "a crop of {} x {} at {}, {} of an image of {} x {} pixels", crop.width,
                crop.height, crop.x, crop.y, size->width, size->height);
  }
  const Status status = decoder.decode(sink_.begin(geometry, out), sink_);
  if (status) sink_.finish();
  return status;
}

}  // namespace unstarve::feed
