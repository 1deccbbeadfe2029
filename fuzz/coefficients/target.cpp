#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "feed/coefficients/encode_jpeg.h"
#include "feed/coefficients/payload_layout.h"
#include "feed/coefficients/restore_jpeg.h"

namespace {

using namespace unstarve;

/// Enough for what the fuzzer makes of small payloads; a larger image would only take time.
constexpr std::int64_t kMaxPixels = 1 << 16;

void unpack_row(const feed::PayloadHead& head, int row, std::span<const std::byte> bytes) {
  std::array<std::vector<std::int16_t>, kernels::kMaxComponents> planes;
  std::array<feed::CoefficientTarget, kernels::kMaxComponents> targets;
  for (int i = 0; i < head.component_count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const std::ptrdiff_t stride =
        std::ptrdiff_t{head.components[index].columns} * kernels::kBlockCoefficients;
    planes[index].resize(std::size_t(stride) * std::size_t(feed::block_rows(head, i, row)));
    targets[index] = {planes[index].data(), stride};
  }
  (void)feed::unpack_segments(head, {row, 0, head.segments_across}, bytes, targets);
}

/// Everything behind the checksums: that of the head is made right, the rows' are not asked for.
void unpack_all(std::vector<std::byte> payload) {
  const Result<std::size_t> size = feed::head_size(payload);
  if (!size || *size > payload.size()) return;
  const std::uint32_t checksum =
      feed::payload::checksum(std::span(payload).first(*size).subspan(sizeof(std::uint32_t)));
  std::memcpy(payload.data(), &checksum, sizeof(checksum));
  feed::PayloadHead head;
  if (!feed::parse_head(payload, head)) return;
  if (std::int64_t{head.size.width} * head.size.height > kMaxPixels) return;
  for (int row = 0; row < head.mcu_rows; ++row) {
    const feed::PayloadRange range = feed::rows_range(head, row, 1);
    if (range.offset > payload.size() || range.size > payload.size() - range.offset) return;
    // In memory of its own, so that AddressSanitizer sees a read past the padding.
    const auto first = payload.begin() + std::ptrdiff_t(range.offset);
    const std::vector<std::byte> bytes(first, first + std::ptrdiff_t(range.size));
    unpack_row(head, row, feed::row_of(head, row, row, bytes));
  }
}

}  // namespace

/// Payloads come from files that anybody may have written, and JPEGs from anywhere: what the
/// encoder takes must come back as a JPEG.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static feed::CoefficientEncoder encoder =
      *feed::CoefficientEncoder::create({.max_pixels = kMaxPixels, .max_scans = 20});
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(first, first + size);
  unpack_all(bytes);
  std::vector<std::byte> jpeg;
  (void)feed::restore_jpeg(bytes, jpeg);
  std::vector<std::byte> payload;
  if (encoder.encode(bytes, payload) && !feed::restore_jpeg(payload, jpeg)) __builtin_trap();
  return 0;
}
