#include "feed/coefficients/decoder.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kStripRows;

Result<ImageSize> CoefficientDecoder::open(const EncodedSample& sample) {
  UNSTARVE_CHECK(sample.form == SampleForm::kCoefficients && sample.parts != nullptr,
                 "a coefficient payload comes with its parts");
  if (Status status = parse_head(sample.bytes, head_); !status) return forward_error(status);
  const auto pixels = std::int64_t{head_.size.width} * head_.size.height;
  if (pixels > max_pixels_) {
    return fail(ErrorCode::kInvalidArgument,
                "{}x{} is more than {} pixels; raise max_pixels if it is meant", head_.size.width,
                head_.size.height, max_pixels_);
  }
  parts_ = sample.parts;
  return head_.size;
}

Status CoefficientDecoder::decode(const Box& region, RowSink& sink) {
  UNSTARVE_CHECK(region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0,
                 "a region has pixels");
  UNSTARVE_CHECK(
      region.x + region.width <= head_.size.width && region.y + region.height <= head_.size.height,
      "the region lies inside the image");
  if (Status status = plan_region(head_, region, plan_); !status) return status;
  const int row_count = plan_.end_row - plan_.first_row;
  const PayloadRange range = rows_range(head_, plan_.first_row, row_count);
  const Result<std::span<const std::byte>> bytes = parts_->read(range.offset, range.size, bytes_);
  if (!bytes) return forward_error(bytes);
  if (Status status = check_rows(head_, plan_.first_row, row_count, *bytes); !status) {
    return status;
  }
  planes_.begin(head_, plan_);
  strip_stride_ = std::ptrdiff_t{region.width} * kernels::kChannels + kernels::kColourWriteSlack;
  const auto strip_bytes = static_cast<std::size_t>(strip_stride_ * kStripRows);
  if (strip_.size() < strip_bytes) strip_.resize(strip_bytes);
  strip_rows_ = 0;
  next_row_ = region.y;
  const int end = region.y + region.height;
  for (int row = plan_.first_row; row < plan_.end_row; ++row) {
    const std::span<const std::byte> row_bytes = row_of(head_, plan_.first_row, row, *bytes);
    if (Status status = unpack_row(row, row_bytes); !status) return status;
    planes_.transform(row);
    const int complete = (row + 1) * head_.mcu_height - (plan_.looks_below ? 1 : 0);
    write_rows(row + 1 == plan_.end_row ? end : std::min(end, complete), sink);
  }
  return {};
}

Status CoefficientDecoder::unpack_row(int row, std::span<const std::byte> bytes) {
  const auto targets = planes_.targets();
  const SegmentRange segments = {row, plan_.first_segment, plan_.end_segment - plan_.first_segment};
  return unpack_segments(head_, segments, bytes, std::span(targets).first(plan_.component_count));
}

void CoefficientDecoder::write_rows(int end, RowSink& sink) {
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
