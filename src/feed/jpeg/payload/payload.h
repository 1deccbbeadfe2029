#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "kernels/segment/segment.h"

namespace unstarve::feed {

/// What a JPEG's components mean, as libjpeg concludes it from the markers.
enum class ColorForm : std::uint8_t { kGrey = 1, kRgb = 2, kYcc = 3 };

/// One component of the image; its blocks are those that hold samples of the image, without those
/// that a JPEG adds to fill its last MCUs.
struct PayloadComponent {
  int id = 0;          // as the JPEG numbers it
  int horizontal = 1;  // sampling factors, 1..4
  int vertical = 1;
  int table = 0;    // of PayloadHead::tables
  int columns = 0;  // blocks across the image
  int rows = 0;     // blocks down the image
};

/// The head of a coefficient payload: all that is known of the image but its coefficients.
/// Everything in it has been checked against the limits of the format. Reuse one object: it keeps
/// its memory.
struct PayloadHead {
  ImageSize size;
  ColorForm color = ColorForm::kYcc;
  int component_count = 0;
  std::array<PayloadComponent, kernels::kMaxComponents> components;
  int table_count = 0;
  /// Quantisation steps in natural (row-major) order.
  std::array<std::array<std::uint16_t, kernels::kBlockCoefficients>, kernels::kMaxComponents>
      tables;
  int max_horizontal = 1;  // the largest sampling factors
  int max_vertical = 1;
  int mcu_width = 8;                       // pixels, 8 * max_horizontal
  int mcu_height = 8;                      // pixels, 8 * max_vertical
  int mcu_rows = 0;                        // the image's height in MCUs, rounded up
  int segment_width = 64;                  // pixels: the MCUs that fit into 64, at least one
  int segments_across = 0;                 // per MCU row; the last may be narrower
  std::vector<std::uint64_t> row_offsets;  // mcu_rows + 1, from the payload's start
  std::vector<std::uint32_t> row_checksums;
  std::uint32_t markers_size = 0;  // 0: none were kept
  std::uint32_t markers_checksum = 0;
};

/// Bytes of the payload, from its start.
struct PayloadRange {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

/// The first bytes of a payload, enough for head_size().
inline constexpr std::size_t kHeadPrefixBytes = 8;
/// Zero bytes after the last row, so that every row has kernels::kSegmentPadding bytes after it.
inline constexpr std::size_t kRowsPadding = kernels::kSegmentPadding;

/// How many bytes the head of the payload takes that starts with `prefix`.
Result<std::size_t> head_size(std::span<const std::byte> prefix);

/// Reads and checks the head; `bytes` may be longer than it. A few microseconds.
/// kCorruptData: its checksum or its fields are wrong; kNotSupported: a later version.
Status parse_head(std::span<const std::byte> bytes, PayloadHead& head);

/// The bytes to read for MCU rows [first, first + count), with the padding after them that
/// unpack_segments() needs. count >= 1.
PayloadRange rows_range(const PayloadHead& head, int first, int count);
/// The kept markers (APPn and COM, as they stood in the JPEG); size 0 where there are none.
PayloadRange markers_range(const PayloadHead& head);
/// Bytes of the whole payload.
std::uint64_t payload_size(const PayloadHead& head);

/// Checks the checksums of the rows that `bytes`, read from rows_range(), hold.
Status check_rows(const PayloadHead& head, int first, int count, std::span<const std::byte> bytes);

/// MCU row `row` out of `bytes`, which were read from rows_range(head, first, ...).
std::span<const std::byte> row_of(const PayloadHead& head, int first, int row,
                                  std::span<const std::byte> bytes);

/// Blocks [first, first + count) of a component across, which the segments
/// [first_segment, first_segment + segments) hold.
struct BlockSpan {
  int first = 0;
  int count = 0;
};
BlockSpan segment_blocks(const PayloadHead& head, int component, int first_segment, int segments);
/// Block rows of a component in an MCU row: its vertical factor, or fewer at the image's end.
int block_rows(const PayloadHead& head, int component, int row);

/// Where unpacked coefficients go: coefficients[v * row_stride + column * 64 + i] with v the block
/// row within the MCU row, column counted from segment_blocks().first, i in natural order.
struct CoefficientTarget {
  std::int16_t* coefficients = nullptr;
  std::ptrdiff_t row_stride = 0;  // coefficients from one block row to the next
};

/// Which segments of an MCU row are wanted.
struct SegmentRange {
  int row = 0;  // MCU row
  int first = 0;
  int count = 0;
};

/// Unpacks segments of one MCU row into one target per component: block_rows() rows of
/// segment_blocks().count blocks each. `row_bytes` is what row_of() gave, checked by check_rows(),
/// with kRowsPadding readable bytes after it. kCorruptData when the bytes cannot be such segments;
/// no bytes, however wrong, lead to an access outside of them and the targets.
Status unpack_segments(const PayloadHead& head, const SegmentRange& range,
                       std::span<const std::byte> row_bytes,
                       std::span<const CoefficientTarget> targets);

}  // namespace unstarve::feed
