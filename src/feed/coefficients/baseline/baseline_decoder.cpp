#include "feed/coefficients/baseline/baseline_decoder.h"

#include <algorithm>

#include "feed/coefficients/payload_layout.h"

namespace unstarve::feed {
namespace {

ColorForm color_form(BaselineFrame::Colour colour) {
  switch (colour) {
    case BaselineFrame::Colour::kGrey: return ColorForm::kGrey;
    case BaselineFrame::Colour::kRgb: return ColorForm::kRgb;
    case BaselineFrame::Colour::kYcc: return ColorForm::kYcc;
  }
  return ColorForm::kYcc;
}

/// What a payload's head would say of the image.
void describe(const BaselineFrame& frame, PayloadHead& head) {
  head.size = frame.size;
  head.color = color_form(frame.colour);
  head.component_count = frame.component_count;
  head.table_count = frame.component_count;
  for (std::size_t i = 0; i < static_cast<std::size_t>(frame.component_count); ++i) {
    const BaselineFrame::Component& from = frame.components[i];
    head.components[i] = {from.id, from.horizontal, from.vertical, static_cast<int>(i), 0, 0};
    head.tables[i] = frame.quantisation[static_cast<std::size_t>(from.quantisation)];
  }
  payload::derive_geometry(head);
}

}  // namespace

Result<ImageSize> BaselineDecoder::open(std::span<const std::byte> bytes) {
  if (Status status = read_baseline_frame(bytes, *frame_); !status) return forward_error(status);
  if (std::int64_t{frame_->size.width} * frame_->size.height > max_pixels_) {
    return fail(ErrorCode::kNotSupported, "more than {} pixels", max_pixels_);
  }
  describe(*frame_, head_);
  return head_.size;
}

Status BaselineDecoder::decode(const Box& region, RowSink& sink) {
  if (Status status = output_.begin(head_, region); !status) return status;
  if (Status status = entropy_.begin(*frame_); !status) return status;
  const RegionPlan& plan = output_.plan();
  const int mcus_per_segment = head_.segment_width / head_.mcu_width;
  const int first = plan.first_segment * mcus_per_segment;
  const int end = std::min(plan.end_segment * mcus_per_segment, frame_->mcus_across);
  if (Status status = entropy_.pass_rows(plan.first_row); !status) return status;
  for (int row = plan.first_row; row < plan.end_row; ++row) {
    const auto places = output_.targets();
    std::array<BlockTarget, kernels::kMaxComponents> targets;
    for (std::size_t i = 0; i < plan.component_count; ++i) {
      const int component = static_cast<int>(i);
      const int columns = segment_blocks(head_, component, plan.first_segment,
                                         plan.end_segment - plan.first_segment)
                              .count;
      targets[i] = {places[i].coefficients, places[i].row_stride, columns,
                    block_rows(head_, component, row)};
    }
    if (Status status = entropy_.next_row({first, end - first}, targets); !status) return status;
    output_.row_done(row, sink);
  }
  return {};
}

}  // namespace unstarve::feed
