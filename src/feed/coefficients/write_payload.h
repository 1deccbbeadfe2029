#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/coefficients/payload_layout.h"
#include "kernels/segment/sparse_block.h"

namespace unstarve::feed {

/// Where one MCU row's sparse blocks go: block (v, column) to blocks[v * row_stride + column].
struct SparseBlockTarget {
  kernels::SparseBlock* blocks = nullptr;
  std::ptrdiff_t row_stride = 0;  // blocks from one block row to the next
};

/// Writes a payload: begin(), then for each MCU row from the top its coefficients into targets()
/// and pack_row(), or its sparse blocks into sparse_targets() and pack_sparse_row(); then finish().
/// Everything is appended to one and the same `out`, which begin() empties. Keeps its memory from
/// image to image.
class PayloadWriter {
 public:
  /// `head` has its geometry derived; its row table is not looked at.
  void begin(const PayloadHead& head, std::span<const std::byte> markers,
             std::vector<std::byte>& out);
  /// Where one MCU row's coefficients go: block_rows() rows of each component's columns.
  std::span<const CoefficientTarget> targets() const { return targets_; }
  /// kNotSupported when a coefficient is too large for the format.
  Status pack_row(const PayloadHead& head, int row, std::vector<std::byte>& out);
  /// block_rows() rows of each component's columns.
  std::span<const SparseBlockTarget> sparse_targets(const PayloadHead& head);
  Status pack_sparse_row(const PayloadHead& head, int row, std::vector<std::byte>& out);
  void finish(std::span<const std::byte> markers, std::vector<std::byte>& out);

 private:
  void place_targets(const PayloadHead& head);
  template <class PackSegment>
  Status pack_segments(const PayloadHead& head, int row, std::vector<std::byte>& out,
                       PackSegment pack_segment);

  payload::FixedHead fixed_;
  std::size_t row_entries_ = 0;  // where the table of rows lies in `out`
  std::vector<std::int16_t> row_;
  std::array<CoefficientTarget, kernels::kMaxComponents> targets_;
  std::vector<kernels::SparseBlock> sparse_row_;
  std::array<SparseBlockTarget, kernels::kMaxComponents> sparse_targets_;
};

}  // namespace unstarve::feed
