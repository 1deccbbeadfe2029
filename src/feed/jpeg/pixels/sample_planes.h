#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feed/jpeg/pixels/region_plan.h"
#include "kernels/jpeg/colour.h"

namespace unstarve::feed {

/// The samples of the last two MCU rows of a region, one plane per component; makes them from
/// coefficients and pixels from them. Keeps its memory from image to image.
/// Thread rule: one thread at a time. Throws std::bad_alloc where memory runs out.
class SamplePlanes {
 public:
  /// `plan` and `head` must outlive the rows.
  void begin(const PayloadHead& head, const RegionPlan& plan);
  /// Where the coefficients of the next MCU row belong, one target per component, laid out as
  /// unpack_segments() fills them for the plan's segments.
  std::array<CoefficientTarget, kernels::kMaxComponents> targets();
  /// Turns the coefficients of MCU row `row` into samples.
  void transform(int row);
  /// One row of pixels of the region, as interleaved RGB; `out` has room for
  /// kernels::kColourWriteSlack bytes more. All MCU rows it needs have been transformed.
  void write_pixels(int y, std::uint8_t* out);

 private:
  struct Plane {
    std::vector<std::int16_t> coefficients;
    std::ptrdiff_t coefficient_stride = 0;  // of a block row
    std::ptrdiff_t skipped = 0;             // coefficients of a block row before those needed
    std::vector<std::uint8_t> samples;
    std::ptrdiff_t stride = 0;
    int kept_rows = 0;                    // a power of two, at least two MCU rows
    std::vector<std::uint8_t> upsampled;  // one row
  };

  /// The sample at `column` of `row`, counted from the image's top left corner.
  std::uint8_t* sample(std::size_t component, int row, int column);
  void repeat_edges(std::size_t component, int row);
  const std::uint8_t* pixel_row(std::size_t component, int y);

  const PayloadHead* head_ = nullptr;
  const RegionPlan* plan_ = nullptr;
  std::array<Plane, kernels::kMaxComponents> planes_;
};

}  // namespace unstarve::feed
