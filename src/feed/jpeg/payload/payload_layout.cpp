#include "feed/jpeg/payload/payload_layout.h"

#include <xxhash.h>

#include <algorithm>

namespace unstarve::feed {
namespace payload {
namespace {

int divide_up(int value, int by) { return (value + by - 1) / by; }

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

void derive_geometry(PayloadHead& head) {
  head.max_horizontal = 1;
  head.max_vertical = 1;
  for (int i = 0; i < head.component_count; ++i) {
    const PayloadComponent& component = head.components[std::size_t(i)];
    head.max_horizontal = std::max(head.max_horizontal, component.horizontal);
    head.max_vertical = std::max(head.max_vertical, component.vertical);
  }
  head.mcu_width = 8 * head.max_horizontal;
  head.mcu_height = 8 * head.max_vertical;
  head.mcu_rows = divide_up(head.size.height, head.mcu_height);
  head.segment_width = std::max(1, 64 / head.mcu_width) * head.mcu_width;
  head.segments_across = divide_up(head.size.width, head.segment_width);
  for (int i = 0; i < head.component_count; ++i) {
    PayloadComponent& component = head.components[std::size_t(i)];
    component.columns = divide_up(head.size.width * component.horizontal, head.mcu_width);
    component.rows = divide_up(head.size.height * component.vertical, head.mcu_height);
  }
}

std::array<kernels::SegmentPlane, kernels::kMaxComponents> segment_planes(
    const PayloadHead& head, const SegmentRange& range, int segment,
    std::span<const CoefficientTarget> targets) {
  std::array<kernels::SegmentPlane, kernels::kMaxComponents> planes;
  for (int i = 0; i < head.component_count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const BlockSpan blocks = segment_blocks(head, i, segment, 1);
    const int column = blocks.first - segment_blocks(head, i, range.first, 1).first;
    planes[index] = {
        targets[index].coefficients + std::ptrdiff_t{column} * kernels::kBlockCoefficients,
        targets[index].row_stride, blocks.count, block_rows(head, i, range.row)};
  }
  return planes;
}

}  // namespace payload

BlockSpan segment_blocks(const PayloadHead& head, int component, int first_segment, int segments) {
  const PayloadComponent& shape = head.components[std::size_t(component)];
  const int per_segment = head.segment_width / head.mcu_width * shape.horizontal;
  const int first = first_segment * per_segment;
  return {first, std::min(shape.columns, first + segments * per_segment) - first};
}

int block_rows(const PayloadHead& head, int component, int row) {
  const PayloadComponent& shape = head.components[std::size_t(component)];
  return std::min(shape.vertical, shape.rows - row * shape.vertical);
}

}  // namespace unstarve::feed
