#include "feed/jpeg/pixels/region_plan.h"

#include <algorithm>

#include "kernels/jpeg/inverse_dct.h"

namespace unstarve::feed {
namespace {

using kernels::kBlockSize;

// libjpeg's fancy upsampling needs more columns than these.
constexpr int kTooNarrowForFancy = 2;

int divide_up(int value, int by) { return (value + by - 1) / by; }

Upsampling choose_upsampling(const ComponentPlan& component) {
  const int horizontal = component.horizontal;
  const int vertical = component.vertical;
  if (horizontal == 1 && vertical == 1) return Upsampling::kNone;
  if (horizontal == 1 && vertical == 2) return Upsampling::kFancyH1V2;
  if (horizontal == 2 && component.columns > kTooNarrowForFancy) {
    if (vertical == 1) return Upsampling::kFancyH2V1;
    if (vertical == 2) return Upsampling::kFancyH2V2;
  }
  return Upsampling::kReplicate;
}

bool looks_sideways(Upsampling upsampling) {
  return upsampling == Upsampling::kFancyH2V1 || upsampling == Upsampling::kFancyH2V2;
}

bool looks_up_and_down(Upsampling upsampling) {
  return upsampling == Upsampling::kFancyH1V2 || upsampling == Upsampling::kFancyH2V2;
}

/// Samples of an axis, from `first` up to `end`.
struct Range {
  int first = 0;
  int end = 0;
};

/// The samples behind pixels [first, first + count), each of which stands for `step` pixels.
Range samples_of(int first, int count, int step, int neighbours, int size) {
  return {std::max(0, first / step - neighbours),
          std::min(size, divide_up(first + count, step) + neighbours)};
}

}  // namespace

Status plan_region(const PayloadHead& head, const Box& region, RegionPlan& plan) {
  plan = {};
  plan.region = region;
  plan.component_count = static_cast<std::size_t>(head.component_count);
  plan.first_row = head.mcu_rows;
  plan.first_segment = head.segments_across;
  for (std::size_t i = 0; i < plan.component_count; ++i) {
    const PayloadComponent& from = head.components[i];
    ComponentPlan& to = plan.components[i];
    if (head.max_horizontal % from.horizontal != 0 || head.max_vertical % from.vertical != 0) {
      return fail(ErrorCode::kNotSupported, "component {} has sampling factors {}x{} of {}x{}", i,
                  from.horizontal, from.vertical, head.max_horizontal, head.max_vertical);
    }
    to.horizontal = head.max_horizontal / from.horizontal;
    to.vertical = head.max_vertical / from.vertical;
    to.columns = divide_up(head.size.width, to.horizontal);
    to.rows = divide_up(head.size.height, to.vertical);
    to.mcu_rows = from.vertical * kBlockSize;
    to.upsampling = choose_upsampling(to);
    const bool vertically = looks_up_and_down(to.upsampling);
    plan.looks_below |= vertically;

    const Range columns = samples_of(region.x, region.width, to.horizontal,
                                     looks_sideways(to.upsampling) ? 1 : 0, to.columns);
    to.first_column = columns.first;
    to.end_column = columns.end;
    to.first_used = region.x / to.horizontal;
    to.used_count = divide_up(region.x + region.width, to.horizontal) - to.first_used;
    to.first_block = columns.first / kBlockSize;
    to.block_count = divide_up(columns.end, kBlockSize) - to.first_block;
    plan.first_segment =
        std::min(plan.first_segment, columns.first * to.horizontal / head.segment_width);
    plan.end_segment =
        std::max(plan.end_segment, (columns.end - 1) * to.horizontal / head.segment_width + 1);

    const Range rows =
        samples_of(region.y, region.height, to.vertical, vertically ? 1 : 0, to.rows);
    plan.first_row = std::min(plan.first_row, rows.first / to.mcu_rows);
    plan.end_row = std::max(plan.end_row, divide_up(rows.end, to.mcu_rows));
  }
  return {};
}

}  // namespace unstarve::feed
