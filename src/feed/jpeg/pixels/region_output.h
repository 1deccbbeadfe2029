#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/pixels/region_plan.h"
#include "feed/jpeg/pixels/sample_planes.h"

namespace unstarve::feed {

/// From the coefficients of a region's MCU rows, one after the other, to rows of RGB pixels.
///
///   output.begin(head, region);
///   for row in plan().first_row .. plan().end_row: fill targets(); output.row_done(row, sink);
///
/// Thread rule: one thread at a time. Keeps its memory from image to image. Throws std::bad_alloc.
class RegionOutput {
 public:
  /// `head` must stay until the last row; of it the size, colour, components, tables and MCUs are
  /// looked at. `region` lies inside the image. Fails as plan_region() does.
  Status begin(const PayloadHead& head, const Box& region);
  const RegionPlan& plan() const { return plan_; }
  /// Where the next MCU row's coefficients belong, see SamplePlanes::targets().
  std::array<CoefficientTarget, kernels::kMaxComponents> targets() { return planes_.targets(); }
  /// The targets hold MCU row `row`: hands over the strips of pixels that are complete by now.
  void row_done(int row, RowSink& sink);

 private:
  void write_rows(int end, RowSink& sink);

  const PayloadHead* head_ = nullptr;
  RegionPlan plan_;
  SamplePlanes planes_;
  std::vector<std::uint8_t> strip_;
  std::ptrdiff_t strip_stride_ = 0;
  int strip_rows_ = 0;  // rows in it
  int next_row_ = 0;    // of the image, the next to make
};

}  // namespace unstarve::feed
