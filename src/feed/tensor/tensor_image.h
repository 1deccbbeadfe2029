#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "feed/data/encoded_sample.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

/// An image that lies there as its pixels: hands them to a sink as a decoder would.
/// Thread rule: one thread at a time. Keeps its memory. Throws std::bad_alloc.
class TensorImage {
 public:
  /// `sample`, of form kTensor, stays valid until the last decode(). kNotSupported where its values
  /// are no image.
  Result<ImageSize> open(const EncodedSample& sample);
  Status decode(const Box& region, RowSink& sink);

 private:
  std::span<const std::byte> pixels_;
  ImageSize size_;
  std::vector<std::uint8_t> last_row_;  // with padding
};

}  // namespace unstarve::feed
