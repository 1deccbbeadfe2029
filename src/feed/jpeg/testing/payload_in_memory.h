#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/payload/payload_bytes.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed::test {

/// A payload in memory; notes which of its bytes were asked for. What is read lies in memory of its
/// own, so that AddressSanitizer sees an access past it.
class PayloadInMemory final : public PayloadBytes {
 public:
  explicit PayloadInMemory(std::vector<std::byte> payload) : payload_(std::move(payload)) {}

  Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                          std::vector<std::byte>& /*buffer*/) override {
    if (offset > payload_.size() || size > payload_.size() - offset) {
      asked_past_end = true;
      return fail(ErrorCode::kCorruptData, "past the end");
    }
    bytes_read += size;
    const auto part = std::span(payload_).subspan(offset, size);
    part_ = std::vector<std::byte>(part.begin(), part.end());
    return std::span<const std::byte>(part_);
  }

  /// All there is of it, where it is cut off or broken.
  std::span<const std::byte> head() const {
    const Result<std::size_t> size = head_size(payload_);
    return std::span(payload_).first(size ? std::min(*size, payload_.size()) : payload_.size());
  }

  std::vector<std::byte>& payload() { return payload_; }
  std::size_t bytes_read = 0;
  bool asked_past_end = false;

 private:
  std::vector<std::byte> payload_;
  std::vector<std::byte> part_;
};

/// What `decoder` makes of a region of `payload`.
inline Result<Pixels> decode_region(CoefficientDecoder& decoder, PayloadInMemory& payload,
                                    const Box& region) {
  const Result<ImageSize> size = decoder.open(payload.head());
  if (!size) return forward_error(size);
  CollectedRows sink(region.width);
  if (Status status = decoder.decode(region, payload, sink); !status) return forward_error(status);
  return std::move(sink.pixels);
}

}  // namespace unstarve::feed::test
