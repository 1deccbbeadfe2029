#include "feed/jpeg/pixels/sample_planes.h"

#include <algorithm>
#include <bit>

#include "kernels/jpeg/inverse_dct.h"
#include "kernels/jpeg/upsample.h"

namespace unstarve::feed {
namespace {

using kernels::kBlockSize;

constexpr int kKeptMcuRows = 2;
// Before each row of samples: the sample that repeats the image's left edge, aligned.
constexpr std::ptrdiff_t kMargin = 64;

template <class Vector>
void grow(Vector& memory, std::ptrdiff_t size) {
  if (std::ssize(memory) < size) memory.resize(static_cast<std::size_t>(size));
}

constexpr std::ptrdiff_t round_up(std::ptrdiff_t value, std::ptrdiff_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

void SamplePlanes::begin(const PayloadHead& head, const RegionPlan& plan) {
  head_ = &head;
  plan_ = &plan;
  for (std::size_t i = 0; i < plan.component_count; ++i) {
    const ComponentPlan& component = plan.components[i];
    Plane& plane = planes_[i];
    const BlockSpan span = segment_blocks(head, static_cast<int>(i), plan.first_segment,
                                          plan.end_segment - plan.first_segment);
    plane.coefficient_stride =
        std::ptrdiff_t{span.count + kernels::kBlocksAtOnce} * kernels::kBlockSamples;
    plane.skipped = std::ptrdiff_t{component.first_block - span.first} * kernels::kBlockSamples;
    grow(plane.coefficients, plane.coefficient_stride * component.mcu_rows / kBlockSize);

    const std::ptrdiff_t columns =
        round_up(component.block_count, kernels::kBlocksAtOnce) * kBlockSize;
    plane.stride = kMargin + round_up(columns, 64);
    plane.kept_rows =
        static_cast<int>(std::bit_ceil(static_cast<unsigned>(kKeptMcuRows * component.mcu_rows)));
    grow(plane.samples, plane.stride * plane.kept_rows + kMargin + kernels::kUpsampleSlack +
                            kernels::kColourReadSlack);
    if (component.upsampling != Upsampling::kNone) {
      grow(plane.upsampled, std::ptrdiff_t{plan.region.width} + 2 * component.horizontal +
                                2 * kernels::kUpsampleSlack + kernels::kColourReadSlack);
    }
  }
}

std::array<CoefficientTarget, kernels::kMaxComponents> SamplePlanes::targets() {
  std::array<CoefficientTarget, kernels::kMaxComponents> result;
  for (std::size_t i = 0; i < plan_->component_count; ++i) {
    result[i] = {planes_[i].coefficients.data(), planes_[i].coefficient_stride};
  }
  return result;
}

std::uint8_t* SamplePlanes::sample(std::size_t component, int row, int column) {
  const ComponentPlan& plan = plan_->components[component];
  Plane& plane = planes_[component];
  const int kept_row = row & (plane.kept_rows - 1);
  return plane.samples.data() + (kept_row * plane.stride + kMargin + column -
                                 std::ptrdiff_t{plan.first_block} * kBlockSize);
}

void SamplePlanes::transform(int row) {
  for (std::size_t i = 0; i < plan_->component_count; ++i) {
    const ComponentPlan& component = plan_->components[i];
    const Plane& plane = planes_[i];
    const auto& table = head_->tables[static_cast<std::size_t>(head_->components[i].table)];
    const int block_row_count = block_rows(*head_, static_cast<int>(i), row);
    for (int v = 0; v < block_row_count; ++v) {
      const int first_row = row * component.mcu_rows + v * kBlockSize;
      const kernels::BlockRow blocks = {
          plane.coefficients.data() + v * plane.coefficient_stride + plane.skipped, table.data(),
          component.block_count};
      kernels::inverse_dct(blocks, sample(i, first_row, component.first_block * kBlockSize),
                           plane.stride);
      const bool sideways = component.upsampling == Upsampling::kFancyH2V1 ||
                            component.upsampling == Upsampling::kFancyH2V2;
      for (int y = first_row; sideways && y < first_row + kBlockSize; ++y) repeat_edges(i, y);
    }
  }
}

void SamplePlanes::repeat_edges(std::size_t component, int row) {
  const ComponentPlan& plan = plan_->components[component];
  if (plan.first_column == 0) *sample(component, row, -1) = *sample(component, row, 0);
  if (plan.end_column == plan.columns) {
    *sample(component, row, plan.columns) = *sample(component, row, plan.columns - 1);
  }
}

const std::uint8_t* SamplePlanes::pixel_row(std::size_t component, int y) {
  const ComponentPlan& plan = plan_->components[component];
  const int first = plan.first_used;
  if (plan.upsampling == Upsampling::kNone) return sample(component, y, first);
  const int count = plan.used_count;
  const int row = y / plan.vertical;
  const std::uint8_t* nearer = sample(component, row, first);
  // The neighbour that is nearer to this row of pixels; at the image's edge the row itself.
  const bool upper = y % 2 == 0;
  const int next = std::clamp(upper ? row - 1 : row + 1, 0, plan.rows - 1);
  const kernels::RowPair rows = {nearer, sample(component, next, first)};
  std::uint8_t* out = planes_[component].upsampled.data();
  switch (plan.upsampling) {
    case Upsampling::kFancyH2V1: kernels::upsample_h2v1(nearer, count, out); break;
    case Upsampling::kFancyH2V2: kernels::upsample_h2v2(rows, count, out); break;
    case Upsampling::kFancyH1V2:
      kernels::upsample_h1v2(rows, upper ? kernels::RowHalf::kUpper : kernels::RowHalf::kLower,
                             count, out);
      break;
    case Upsampling::kReplicate:
    case Upsampling::kNone: kernels::replicate(nearer, count, plan.horizontal, out); break;
  }
  return out + plan_->region.x - first * plan.horizontal;
}

void SamplePlanes::write_pixels(int y, std::uint8_t* out) {
  const int width = plan_->region.width;
  const std::uint8_t* first = pixel_row(0, y);
  if (head_->color == ColorForm::kGrey) {
    kernels::planes_to_rgb({first, first, first}, width, out);
    return;
  }
  const kernels::PlaneRows rows = {first, pixel_row(1, y), pixel_row(2, y)};
  if (head_->color == ColorForm::kRgb) {
    kernels::planes_to_rgb(rows, width, out);
  } else {
    kernels::ycc_to_rgb(rows, width, out);
  }
}

}  // namespace unstarve::feed
