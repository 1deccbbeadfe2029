#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/payload/payload_bytes.h"
#include "feed/jpeg/pixels/region_output.h"

namespace unstarve::feed {

/// Decodes rectangles of coefficient payloads to RGB; pixels are those that libjpeg-turbo makes of
/// the JPEG when it decodes all of it.
///
///   Result<ImageSize> size = decoder.open(head);
///   Status status = decoder.decode(region, payload, sink);   // after open(), any number of times
///
/// Reads only the MCU rows that the region touches, checks their checksums, and unpacks only the
/// segments that it touches. Grey becomes RGB.
/// Thread rule: one thread at a time. Keeps its memory from image to image. Throws std::bad_alloc.
class CoefficientDecoder {
 public:
  /// Images of more pixels are refused by their head.
  explicit CoefficientDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}

  /// Reads the payload's head; `bytes` may be longer than it.
  Result<ImageSize> open(std::span<const std::byte> bytes);
  /// Hands the rows of `region`, which lies inside the image, to `sink`; `payload` is the one whose
  /// head was opened last.
  Status decode(const Box& region, PayloadBytes& payload, RowSink& sink);

 private:
  std::int64_t max_pixels_ = 0;
  PayloadHead head_;
  RegionOutput output_;
  std::vector<std::byte> bytes_;
};

}  // namespace unstarve::feed
