#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/data/image_decoder.h"
#include "feed/jpeg/baseline/baseline_frame.h"
#include "feed/jpeg/baseline/entropy_decoder.h"
#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/payload/payload_writer.h"
#include "feed/jpeg/pixels/region_output.h"

namespace unstarve::feed {

/// Decodes rectangles of baseline JPEG files to RGB; pixels are those of libjpeg-turbo.
///
///   Result<ImageSize> size = decoder.open(bytes);
///   Status status = decoder.decode(region, sink);   // after open(), once
///
/// It takes the usual files only, and gives up where libjpeg would as much as warn: whatever error
/// it returns, libjpeg has the last word (feed/jpeg/libjpeg/jpeg_decoder.h). Some rows may have
/// been handed over by then. Thread rule: one thread at a time. Keeps its memory from image to
/// image. Throws std::bad_alloc.
class BaselineDecoder final : public ImageDecoder {
 public:
  /// Images of more pixels are left to libjpeg, which refuses them.
  explicit BaselineDecoder(std::int64_t max_pixels)
      : max_pixels_(max_pixels), frame_(std::make_unique<BaselineFrame>()) {}

  /// Reads the headers. `bytes` must stay valid until decode() has returned.
  Result<ImageSize> open(std::span<const std::byte> bytes) override;
  /// Hands the rows of `region`, which lies inside the image, to `sink`.
  Status decode(const Box& region, RowSink& sink) override;
  /// The same, and the whole image's coefficients as a payload: what one pass over the file gives.
  Status decode_and_encode(const Box& region, RowSink& sink, std::vector<std::byte>& payload);
  /// The payload alone.
  Status encode(std::vector<std::byte>& payload);

 private:
  using Targets = std::array<BlockTarget, kernels::kMaxComponents>;
  Targets region_targets(int row);
  /// Reads one row of the whole image into the payload, and into `targets` what the region needs.
  Status encode_row(int row, McuSpan wanted, std::span<const BlockTarget> targets,
                    std::vector<std::byte>& payload);
  McuSpan region_mcus() const;

  std::int64_t max_pixels_ = 0;
  std::unique_ptr<BaselineFrame> frame_;  // on the heap: it holds 64 KB of tables
  PayloadHead head_;
  EntropyDecoder entropy_;
  RegionOutput output_;
  PayloadWriter writer_;
};

}  // namespace unstarve::feed
