#include "feed/jpeg/pixels/region_output.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kStripRows;

Status RegionOutput::begin(const PayloadHead& head, const Box& region) {
  UNSTARVE_CHECK(region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0,
                 "a region has pixels");
  UNSTARVE_CHECK(
      region.x + region.width <= head.size.width && region.y + region.height <= head.size.height,
      "the region lies inside the image");
  if (Status status = plan_region(head, region, plan_); !status) return status;
  head_ = &head;
  planes_.begin(head, plan_);
  strip_stride_ = std::ptrdiff_t{region.width} * kernels::kChannels + kernels::kColourWriteSlack;
  const auto strip_bytes = static_cast<std::size_t>(strip_stride_ * kStripRows);
  if (strip_.size() < strip_bytes) strip_.resize(strip_bytes);
  strip_rows_ = 0;
  next_row_ = region.y;
  return {};
}

void RegionOutput::row_done(int row, RowSink& sink) {
  planes_.transform(row);
  const int end = plan_.region.y + plan_.region.height;
  const int complete = (row + 1) * head_->mcu_height - (plan_.looks_below ? 1 : 0);
  write_rows(row + 1 == plan_.end_row ? end : std::min(end, complete), sink);
}

/// Makes the region's rows up to `end` and hands over each strip that is full, or the last one.
void RegionOutput::write_rows(int end, RowSink& sink) {
  const int region_end = plan_.region.y + plan_.region.height;
  for (; next_row_ < end; ++next_row_) {
    planes_.write_pixels(next_row_, strip_.data() + strip_rows_ * strip_stride_);
    ++strip_rows_;
    if (strip_rows_ < kStripRows && next_row_ + 1 < region_end) continue;
    sink.rows(strip_.data(), strip_stride_, strip_rows_);
    strip_rows_ = 0;
  }
}

}  // namespace unstarve::feed
