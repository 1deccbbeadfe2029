#include "feed/jpeg/baseline/baseline_decoder.h"

#include <algorithm>

#include "feed/jpeg/payload/payload_layout.h"

namespace unstarve::feed {
namespace {

/// What a payload's head would say of the image.
void describe(const BaselineFrame& frame, PayloadHead& head) {
  head.size = frame.size;
  head.color = frame.color;
  head.component_count = frame.component_count;
  head.table_count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(frame.component_count); ++i) {
    const BaselineFrame::Component& from = frame.components[i];
    const auto& table = frame.quantisation[static_cast<std::size_t>(from.quantisation)];
    const auto known = head.tables.begin() + head.table_count;
    const auto found = std::find(head.tables.begin(), known, table);
    if (found == known) {
      *found = table;
      ++head.table_count;
    }
    const auto index = static_cast<int>(found - head.tables.begin());
    head.components[i] = {from.id, from.horizontal, from.vertical, index, 0, 0};
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

BaselineDecoder::Targets BaselineDecoder::region_targets(int row) {
  const RegionPlan& plan = output_.plan();
  const auto places = output_.targets();
  Targets targets;
  for (std::size_t i = 0; i < plan.component_count; ++i) {
    const int component = static_cast<int>(i);
    const BlockSpan blocks =
        segment_blocks(head_, component, plan.first_segment, plan.end_segment - plan.first_segment);
    targets[i] = {places[i].coefficients, places[i].row_stride, blocks.count,
                  block_rows(head_, component, row)};
  }
  return targets;
}

McuSpan BaselineDecoder::region_mcus() const {
  const RegionPlan& plan = output_.plan();
  const int mcus_per_segment = head_.segment_width / head_.mcu_width;
  const int first = plan.first_segment * mcus_per_segment;
  return {first, std::min(plan.end_segment * mcus_per_segment, frame_->mcus_across) - first};
}

Status BaselineDecoder::decode(const Box& region, RowSink& sink) {
  if (Status status = output_.begin(head_, region); !status) return status;
  if (Status status = entropy_.begin(*frame_); !status) return status;
  const RegionPlan& plan = output_.plan();
  const McuSpan wanted = region_mcus();
  if (Status status = entropy_.pass_rows(plan.first_row); !status) return status;
  for (int row = plan.first_row; row < plan.end_row; ++row) {
    if (Status status = entropy_.next_row(wanted, region_targets(row)); !status) return status;
    output_.row_done(row, sink);
  }
  return {};
}

Status BaselineDecoder::encode_row(int row, McuSpan wanted, std::span<const BlockTarget> targets,
                                   std::vector<std::byte>& payload) {
  const int per_segment = head_.segment_width / head_.mcu_width;
  return writer_.pack_row(head_, row, payload, [&](int segment, kernels::SegmentPacker& packer) {
    const int first = segment * per_segment;
    const int end = std::min(first + per_segment, frame_->mcus_across);
    return entropy_.next_mcus({first, end - first}, wanted, targets, packer);
  });
}

Status BaselineDecoder::decode_and_encode(const Box& region, RowSink& sink,
                                          std::vector<std::byte>& payload) {
  if (Status status = output_.begin(head_, region); !status) return status;
  if (Status status = entropy_.begin(*frame_); !status) return status;
  const RegionPlan& plan = output_.plan();
  const McuSpan wanted = region_mcus();
  writer_.begin(head_, frame_->markers, payload);
  for (int row = 0; row < head_.mcu_rows; ++row) {
    if (row < plan.first_row || row >= plan.end_row) {
      if (Status status = encode_row(row, {}, {}, payload); !status) return status;
      continue;
    }
    if (Status status = encode_row(row, wanted, region_targets(row), payload); !status) {
      return status;
    }
    output_.row_done(row, sink);
  }
  writer_.finish(frame_->markers, payload);
  return {};
}

Status BaselineDecoder::encode(std::vector<std::byte>& payload) {
  if (Status status = entropy_.begin(*frame_); !status) return status;
  writer_.begin(head_, frame_->markers, payload);
  for (int row = 0; row < head_.mcu_rows; ++row) {
    if (Status status = encode_row(row, {}, {}, payload); !status) return status;
  }
  writer_.finish(frame_->markers, payload);
  return {};
}

}  // namespace unstarve::feed
