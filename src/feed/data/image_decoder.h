#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

struct DecodeLimits {
  std::int64_t max_pixels = 178'956'970;  // larger images are refused by their header
  int max_scans = 500;                    // of a progressive JPEG; each costs a pass over the image
  bool accept_damaged = false;            // broken entropy-coded data is not an error
};

/// Decodes rectangles of image files to RGB; pixels are those of a full decode.
///
///   Result<ImageSize> size = decoder.open(bytes);
///   Status status = decoder.decode(region, sink);   // after open(), once
///
/// Files come from anywhere: whatever their bytes say, memory stays within DecodeLimits, and an
/// error is the worst. Some rows may have been handed over by the time of an error.
/// Thread rule: one thread at a time. Keeps its memory from image to image. May throw
/// std::bad_alloc.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  /// Reads the header. `file` may hold anything: the loader asks the format's begins() before it,
  /// which looks at the first bytes alone, and others ask nothing. It must stay valid until
  /// decode() has returned.
  virtual Result<ImageSize> open(std::span<const std::byte> file) = 0;
  /// Hands the rows of `region`, which has pixels and lies inside the image, to `sink`, whose
  /// rows() is called from here alone. Comes at most once after an open() that gave a size.
  virtual Status decode(const Box& region, RowSink& sink) = 0;

 protected:
  ImageDecoder() = default;
  ImageDecoder(const ImageDecoder&) = default;
  ImageDecoder(ImageDecoder&&) noexcept = default;
  ImageDecoder& operator=(const ImageDecoder&) = default;
  ImageDecoder& operator=(ImageDecoder&&) noexcept = default;
};

}  // namespace unstarve::feed
