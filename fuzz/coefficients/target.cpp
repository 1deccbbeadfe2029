#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "feed/jpeg/payload/payload_layout.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/jpeg/testing/payload_in_memory.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"
#include "feed/jpeg/transcode/restore_jpeg.h"
#include "feed/testing/collected_rows.h"

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

void seal_head(std::vector<std::byte>& payload, std::size_t head_size) {
  const std::uint32_t checksum =
      feed::payload::checksum(std::span(payload).first(head_size).subspan(sizeof(std::uint32_t)));
  std::memcpy(payload.data(), &checksum, sizeof(checksum));
}

/// Makes the checksums right, which a mutation hardly ever does, so that what they guard is met.
/// False when the head is no head of a small image.
bool repair(std::vector<std::byte>& payload, feed::PayloadHead& head) {
  const Result<std::size_t> size = feed::head_size(payload);
  if (!size || *size > payload.size()) return false;
  seal_head(payload, *size);
  if (!feed::parse_head(payload, head)) return false;
  if (std::int64_t{head.size.width} * head.size.height > kMaxPixels) return false;
  if (head.row_offsets.back() + feed::kRowsPadding > payload.size()) return false;
  const auto rows = static_cast<std::size_t>(head.mcu_rows);
  const std::size_t table = *size - rows * sizeof(feed::payload::RowEntry);
  for (std::size_t row = 0; row < rows; ++row) {
    feed::payload::RowEntry entry;
    entry.size = static_cast<std::uint32_t>(head.row_offsets[row + 1] - head.row_offsets[row]);
    entry.checksum =
        feed::payload::checksum(std::span(payload).subspan(head.row_offsets[row], entry.size));
    std::memcpy(payload.data() + table + row * sizeof(entry), &entry, sizeof(entry));
  }
  seal_head(payload, *size);
  if (!feed::parse_head(payload, head)) __builtin_trap();
  return true;
}

void unpack_all(const feed::PayloadHead& head, const std::vector<std::byte>& payload) {
  for (int row = 0; row < head.mcu_rows; ++row) {
    const feed::PayloadRange range = feed::rows_range(head, row, 1);
    // In memory of its own, so that AddressSanitizer sees a read past the padding.
    const auto first = payload.begin() + std::ptrdiff_t(range.offset);
    const std::vector<std::byte> bytes(first, first + std::ptrdiff_t(range.size));
    unpack_row(head, row, feed::row_of(head, row, row, bytes));
  }
}

/// A crop of what can be decoded has the pixels of the whole.
void crop(const feed::PayloadHead& head, const std::vector<std::byte>& payload) {
  static feed::CoefficientDecoder decoder(kMaxPixels);
  feed::test::PayloadInMemory stored(payload);
  const auto [width, height] = head.size;
  const auto draw = static_cast<int>(feed::payload::checksum(payload) >> 1);
  feed::Box box;
  box.x = draw % width;
  box.y = draw / 7 % height;
  box.width = 1 + draw / 49 % (width - box.x);
  box.height = 1 + draw / 343 % (height - box.y);
  const auto part = feed::test::decode_region(decoder, stored, box);
  const auto whole = feed::test::decode_region(decoder, stored, {0, 0, width, height});
  if (whole && (!part || *part != feed::test::cut(*whole, width, box))) __builtin_trap();
  if (stored.asked_past_end) __builtin_trap();
}

}  // namespace

/// Payloads come from files that anybody may have written, and JPEGs from anywhere: what the
/// encoder takes must come back as a JPEG.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static feed::CoefficientEncoder encoder =
      *feed::CoefficientEncoder::create({.max_pixels = kMaxPixels, .max_scans = 20});
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(first, first + size);
  std::vector<std::byte> repaired = bytes;
  if (feed::PayloadHead head; repair(repaired, head)) {
    unpack_all(head, repaired);
    crop(head, repaired);
  }
  std::vector<std::byte> jpeg;
  (void)feed::restore_jpeg(bytes, jpeg);
  std::vector<std::byte> payload;
  if (encoder.encode(bytes, payload) && !feed::restore_jpeg(payload, jpeg)) __builtin_trap();
  return 0;
}
