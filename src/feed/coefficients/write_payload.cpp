#include "feed/coefficients/write_payload.h"

#include <algorithm>

namespace unstarve::feed {
namespace {

using payload::FixedHead;
using payload::RowEntry;

template <class T>
void append(std::vector<std::byte>& out, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), first, first + sizeof(value));
}

template <class T>
void put(std::vector<std::byte>& out, std::size_t offset, const T& value) {
  std::memcpy(out.data() + offset, &value, sizeof(value));
}

FixedHead fixed_head(const PayloadHead& head, std::span<const std::byte> markers) {
  FixedHead fixed;
  fixed.color = static_cast<std::uint8_t>(head.color);
  fixed.component_count = static_cast<std::uint8_t>(head.component_count);
  fixed.table_count = static_cast<std::uint8_t>(head.table_count);
  fixed.width = static_cast<std::uint16_t>(head.size.width);
  fixed.height = static_cast<std::uint16_t>(head.size.height);
  fixed.markers_size = static_cast<std::uint32_t>(markers.size());
  fixed.markers_checksum = payload::checksum(markers);
  for (std::size_t i = 0; i < std::size_t(head.component_count); ++i) {
    const PayloadComponent& component = head.components[i];
    fixed.components[i].id = static_cast<std::uint8_t>(component.id);
    fixed.components[i].sampling =
        static_cast<std::uint8_t>(component.horizontal << 4 | component.vertical);
    fixed.components[i].table = static_cast<std::uint8_t>(component.table);
  }
  return fixed;
}

}  // namespace

void PayloadWriter::begin(const PayloadHead& head, std::span<const std::byte> markers,
                          std::vector<std::byte>& out) {
  fixed_ = fixed_head(head, markers);
  out.clear();
  append(out, fixed_);
  for (int i = 0; i < head.table_count; ++i) {
    const auto& table = head.tables[std::size_t(i)];
    const bool wide = *std::max_element(table.begin(), table.end()) > 255;
    if (wide) fixed_.wide_tables = static_cast<std::uint8_t>(fixed_.wide_tables | 1 << i);
    for (const std::uint16_t step : table) {
      if (wide) {
        append(out, step);
      } else {
        append(out, static_cast<std::uint8_t>(step));
      }
    }
  }
  row_entries_ = out.size();
  out.resize(row_entries_ + std::size_t(head.mcu_rows) * sizeof(RowEntry));
  fixed_.head_size = static_cast<std::uint32_t>(out.size());
  place_targets(head);
}

void PayloadWriter::place_targets(const PayloadHead& head) {
  std::array<std::size_t, kernels::kMaxComponents> offsets = {};
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::size_t(head.component_count); ++i) {
    const PayloadComponent& component = head.components[i];
    targets_[i].row_stride = std::ptrdiff_t{component.columns} * kernels::kBlockCoefficients;
    offsets[i] = size;
    size += std::size_t(targets_[i].row_stride) * std::size_t(component.vertical);
  }
  row_.resize(size);
  for (std::size_t i = 0; i < std::size_t(head.component_count); ++i) {
    targets_[i].coefficients = row_.data() + offsets[i];
  }
}

std::span<const SparseBlockTarget> PayloadWriter::sparse_targets(const PayloadHead& head) {
  std::array<std::size_t, kernels::kMaxComponents> offsets = {};
  std::size_t size = 0;
  const auto components = static_cast<std::size_t>(head.component_count);
  for (std::size_t i = 0; i < components; ++i) {
    sparse_targets_[i].row_stride = head.components[i].columns;
    offsets[i] = size;
    size += std::size_t(head.components[i].columns) * std::size_t(head.components[i].vertical);
  }
  if (sparse_row_.size() < size) sparse_row_.resize(size);
  for (std::size_t i = 0; i < components; ++i) {
    sparse_targets_[i].blocks = sparse_row_.data() + offsets[i];
  }
  return std::span(sparse_targets_).first(components);
}

template <class PackSegment>
Status PayloadWriter::pack_segments(const PayloadHead& head, int row, std::vector<std::byte>& out,
                                    PackSegment pack_segment) {
  const std::size_t start = out.size();
  const auto segments = static_cast<std::size_t>(head.segments_across);
  out.resize(start + segments * sizeof(std::uint16_t));
  for (std::size_t segment = 0; segment < segments; ++segment) {
    const std::size_t segment_start = out.size();
    if (!pack_segment(static_cast<int>(segment))) {
      return fail(ErrorCode::kNotSupported,
                  "MCU row {} has a coefficient that 8-bit samples cannot lead to", row);
    }
    put(out, start + segment * sizeof(std::uint16_t),
        static_cast<std::uint16_t>(out.size() - segment_start));
  }
  const std::span<const std::byte> bytes = std::span(out).subspan(start);
  put(out, row_entries_ + std::size_t(row) * sizeof(RowEntry),
      RowEntry{static_cast<std::uint32_t>(bytes.size()), payload::checksum(bytes)});
  return {};
}

Status PayloadWriter::pack_row(const PayloadHead& head, int row, std::vector<std::byte>& out) {
  const auto components = static_cast<std::size_t>(head.component_count);
  return pack_segments(head, row, out, [&](int segment) {
    const auto planes =
        payload::segment_planes(head, {row, 0, head.segments_across}, segment, targets_);
    return kernels::pack_segment(std::span(planes).first(components), out);
  });
}

Status PayloadWriter::pack_sparse_row(const PayloadHead& head, int row,
                                      std::vector<std::byte>& out) {
  const auto components = static_cast<std::size_t>(head.component_count);
  return pack_segments(head, row, out, [&](int segment) {
    std::array<kernels::SparsePlane, kernels::kMaxComponents> planes;
    for (std::size_t i = 0; i < components; ++i) {
      const auto component = static_cast<int>(i);
      const BlockSpan blocks = segment_blocks(head, component, segment, 1);
      planes[i] = {sparse_targets_[i].blocks + blocks.first, sparse_targets_[i].row_stride,
                   blocks.count, block_rows(head, component, row)};
    }
    return kernels::pack_sparse_segment(std::span(planes).first(components), out);
  });
}

void PayloadWriter::finish(std::span<const std::byte> markers, std::vector<std::byte>& out) {
  put(out, 0, fixed_);
  fixed_.checksum =
      payload::checksum(std::span(out).first(fixed_.head_size).subspan(sizeof(fixed_.checksum)));
  put(out, 0, fixed_);
  out.resize(out.size() + kRowsPadding);
  out.insert(out.end(), markers.begin(), markers.end());
}

}  // namespace unstarve::feed
