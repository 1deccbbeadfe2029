#include "feed/jpeg/pixels/coefficient_decoder.h"

namespace unstarve::feed {

Result<ImageSize> CoefficientDecoder::open(std::span<const std::byte> bytes) {
  if (Status status = parse_head(bytes, head_); !status) return forward_error(status);
  const auto pixels = std::int64_t{head_.size.width} * head_.size.height;
  if (pixels > max_pixels_) {
    return fail(ErrorCode::kInvalidArgument,
                "{}x{} is more than {} pixels; raise max_pixels if it is meant", head_.size.width,
                head_.size.height, max_pixels_);
  }
  return head_.size;
}

Status CoefficientDecoder::decode(const Box& region, PayloadBytes& payload, RowSink& sink) {
  if (Status status = output_.begin(head_, region); !status) return status;
  const RegionPlan& plan = output_.plan();
  const int row_count = plan.end_row - plan.first_row;
  const PayloadRange range = rows_range(head_, plan.first_row, row_count);
  const Result<std::span<const std::byte>> bytes = payload.read(range.offset, range.size, bytes_);
  if (!bytes) return forward_error(bytes);
  if (Status status = check_rows(head_, plan.first_row, row_count, *bytes); !status) {
    return status;
  }
  for (int row = plan.first_row; row < plan.end_row; ++row) {
    const auto targets = output_.targets();
    const SegmentRange segments = {row, plan.first_segment, plan.end_segment - plan.first_segment};
    if (Status status = unpack_segments(head_, segments, row_of(head_, plan.first_row, row, *bytes),
                                        std::span(targets).first(plan.component_count));
        !status) {
      return status;
    }
    output_.row_done(row, sink);
  }
  return {};
}

}  // namespace unstarve::feed
