#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/segment/segment.h"

namespace unstarve::kernels {

/// The blocks of a segment as an entropy decoder meets them: only the coefficients that are not
/// zero. They lie in the segment's order: by component, block row and column.
struct SparseBlocks {
  static constexpr std::size_t kMost = std::size_t{kMaxComponents} * kMaxSegmentBlocks;
  /// After the last block there are others without coefficients, for whole vectors of blocks.
  static constexpr std::size_t kPadding = 8;
  static constexpr std::size_t kRoom = kMost + kPadding;

  /// AC values, in zigzag order, from the first on; what lies behind them plays no part.
  alignas(64) std::int16_t values[kRoom][kBlockCoefficients];
  /// Bit k: zigzag position k is one of the values; bit 0 is 0.
  alignas(64) std::uint64_t nonzero[kRoom];
  std::int16_t dc[kRoom];
};

/// Packs one segment from its blocks, which are put in their places in any order:
///
///   packer.begin(shapes);                              // one per component
///   std::size_t place = packer.next(component, row);   // each block row from left to right
///   packer.blocks().values[place][0] = ...
///   bool packed = packer.finish(out);
///
/// The bytes are those of pack_segment_plain() of the same blocks. Thread rule: one thread at a
/// time. Allocates nothing.
class SegmentPacker {
 public:
  static constexpr std::size_t kMaxRows = 4;  // block rows of one component
  /// The blocks of one component; at most kMaxRows rows and kMaxSegmentBlocks blocks.
  struct Shape {
    int columns = 0;
    int rows = 0;
  };

  void begin(std::span<const Shape> components);
  /// The place of the next block. Those past the component's rows and columns, which only fill a
  /// JPEG's last MCUs, have one that is not looked at.
  std::size_t next(std::size_t component, std::size_t row) {
    Row& range = rows_[component * kMaxRows + row];
    return range.next < range.end ? range.next++ : SparseBlocks::kMost;
  }
  SparseBlocks& blocks() { return blocks_; }
  /// Appends the segment to `out`. False, having appended nothing, when a coefficient is too large
  /// for the format, as pack_segment().
  bool finish(std::vector<std::byte>& out);

 private:
  struct Row {
    std::size_t next = 0;
    std::size_t end = 0;
  };

  std::byte* write_dc(std::byte* out) const;

  std::size_t components_ = 0;
  std::array<std::size_t, kMaxComponents + 1> first_ = {};  // place of each, and the end
  std::array<Row, kMaxComponents * kMaxRows> rows_;
  SparseBlocks blocks_;
};

}  // namespace unstarve::kernels
