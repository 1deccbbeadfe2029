#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/jpeg/payload/payload_layout.h"
#include "kernels/segment/segment_packer.h"

namespace unstarve::feed {

/// Writes a payload: begin(), then for each MCU row from the top its coefficients into targets()
/// and pack_row(), or pack_row() with somebody who adds the blocks of each segment; then finish().
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
  /// The same from blocks: `add_blocks(segment, packer)` adds those of one segment after the other,
  /// and returns a Status.
  template <class AddBlocks>
  Status pack_row(const PayloadHead& head, int row, std::vector<std::byte>& out,
                  AddBlocks add_blocks) {
    begin_row(head, out);
    for (int segment = 0; segment < head.segments_across; ++segment) {
      begin_segment(head, row, segment);
      if (Status status = add_blocks(segment, packer_); !status) return status;
      if (!packer_.finish(out)) return too_large(row);
      segment_done(segment, out);
    }
    row_done(row, out);
    return {};
  }
  void finish(std::span<const std::byte> markers, std::vector<std::byte>& out);

 private:
  void place_targets(const PayloadHead& head);
  void begin_row(const PayloadHead& head, std::vector<std::byte>& out);
  void begin_segment(const PayloadHead& head, int row, int segment);
  void segment_done(int segment, std::vector<std::byte>& out);
  void row_done(int row, std::vector<std::byte>& out);
  static tl::unexpected<Error> too_large(int row);

  payload::FixedHead fixed_;
  std::size_t row_entries_ = 0;  // where the table of rows lies in `out`
  std::size_t row_start_ = 0;
  std::size_t segment_start_ = 0;
  std::vector<std::int16_t> row_;
  std::array<CoefficientTarget, kernels::kMaxComponents> targets_;
  kernels::SegmentPacker packer_;
};

}  // namespace unstarve::feed
