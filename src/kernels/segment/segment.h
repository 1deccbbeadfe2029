#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace unstarve::kernels {

inline constexpr int kBlockCoefficients = 64;  // of one 8x8 block
inline constexpr int kMaxComponents = 3;
/// Bytes that may be read, and are ignored, past a packed segment's end.
inline constexpr std::size_t kSegmentPadding = 64;
/// Blocks of one component in one segment: 64 pixels across, at most 4 block rows.
inline constexpr int kMaxSegmentBlocks = 32;

/// The blocks of one component in one segment. A block is 64 quantised coefficients in natural
/// (row-major) order, coefficient 0 the absolute DC value; the blocks of a row lie one after the
/// other.
struct SegmentPlane {
  std::int16_t* coefficients = nullptr;  // of the first block
  std::ptrdiff_t row_stride = 0;         // coefficients from one block row to the next
  int columns = 0;                       // blocks side by side, at least 1
  int rows = 0;                          // block rows, at least 1; rows * columns <= 32
};

/// Unpacks a whole segment with the widest vectors that this CPU has. `bytes` is the segment as
/// docs/formats/coefficients.md describes it, with kSegmentPadding readable bytes after it.
/// Returns false, with undefined coefficients, when the bytes cannot be such a segment. Whatever
/// the bytes are, nothing outside of them and the planes is touched; damage that leaves a possible
/// segment is for the row's checksum to find.
bool unpack_segment(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes);

/// The same in plain C++: the reference that unpack_segment() is compared with.
bool unpack_segment_plain(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes);

/// Appends the packed segment to `out`. Returns false, having appended something undefined, when a
/// coefficient is beyond what 8-bit samples lead to: |AC| > 1023 or DC outside -1024..1023.
bool pack_segment(std::span<const SegmentPlane> planes, std::vector<std::byte>& out);

/// The same in plain C++: the reference that pack_segment() is compared with, byte by byte.
bool pack_segment_plain(std::span<const SegmentPlane> planes, std::vector<std::byte>& out);

}  // namespace unstarve::kernels
