#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/coefficients/payload_layout.h"

namespace unstarve::feed {

/// Writes a payload: begin(), then for each MCU row from the top its coefficients into targets()
/// and pack_row(), then finish(). Everything is appended to one and the same `out`, which begin()
/// empties. Keeps its memory from image to image.
class PayloadWriter {
 public:
  /// `head` has its geometry derived; its row table is not looked at.
  void begin(const PayloadHead& head, std::span<const std::byte> markers,
             std::vector<std::byte>& out);
  /// Where one MCU row's coefficients go: block_rows() rows of each component's columns.
  std::span<const CoefficientTarget> targets() const { return targets_; }
  /// kNotSupported when a coefficient is too large for the format.
  Status pack_row(const PayloadHead& head, int row, std::vector<std::byte>& out);
  void finish(std::span<const std::byte> markers, std::vector<std::byte>& out);

 private:
  void place_targets(const PayloadHead& head);

  payload::FixedHead fixed_;
  std::size_t row_entries_ = 0;  // where the table of rows lies in `out`
  std::vector<std::int16_t> row_;
  std::array<CoefficientTarget, kernels::kMaxComponents> targets_;
};

}  // namespace unstarve::feed
