#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/data/image_decoder.h"

namespace unstarve::feed {

/// Decodes rectangles of JPEGs to RGB with libjpeg-turbo; pixels are those of a full decode.
///
///   Result<ImageSize> size = decoder.open(bytes);
///   Status status = decoder.decode(region, sink);   // after open(), once
///
/// Grey becomes RGB; CMYK and YCCK are read as Adobe writes them and become RGB as PIL's
/// convert("RGB") makes it. Rows above the region are only entropy-decoded, those below not even
/// that: damage there goes unseen. A file that ends inside the region is always an error.
/// Thread rule: one thread at a time. Keeps its memory from image to image.
class JpegDecoder final : public ImageDecoder {
 public:
  static Result<JpegDecoder> create(const DecodeLimits& limits);
  JpegDecoder(JpegDecoder&&) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) noexcept;
  ~JpegDecoder() override;

  /// Reads the header. `bytes` must stay valid until decode() has returned.
  Result<ImageSize> open(std::span<const std::byte> bytes) override;
  /// Hands the rows of `region`, which lies inside the image, to `sink`.
  Status decode(const Box& region, RowSink& sink) override;

 private:
  struct Impl;
  explicit JpegDecoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::feed
