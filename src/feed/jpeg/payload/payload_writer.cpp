#include "feed/jpeg/payload/payload_writer.h"

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

/// The sizes of its segments come first.
void PayloadWriter::begin_row(const PayloadHead& head, std::vector<std::byte>& out) {
  row_start_ = out.size();
  segment_start_ = row_start_ + std::size_t(head.segments_across) * sizeof(std::uint16_t);
  out.resize(segment_start_);
}

void PayloadWriter::begin_segment(const PayloadHead& head, int row, int segment) {
  std::array<kernels::SegmentPacker::Shape, kernels::kMaxComponents> shapes;
  for (int i = 0; i < head.component_count; ++i) {
    shapes[std::size_t(i)] = {segment_blocks(head, i, segment, 1).count, block_rows(head, i, row)};
  }
  packer_.begin(std::span(shapes).first(std::size_t(head.component_count)));
}

void PayloadWriter::segment_done(int segment, std::vector<std::byte>& out) {
  put(out, row_start_ + std::size_t(segment) * sizeof(std::uint16_t),
      static_cast<std::uint16_t>(out.size() - segment_start_));
  segment_start_ = out.size();
}

void PayloadWriter::row_done(int row, std::vector<std::byte>& out) {
  const std::span<const std::byte> bytes = std::span(out).subspan(row_start_);
  put(out, row_entries_ + std::size_t(row) * sizeof(RowEntry),
      RowEntry{static_cast<std::uint32_t>(bytes.size()), payload::checksum(bytes)});
}

tl::unexpected<Error> PayloadWriter::too_large(int row) {
  return fail(ErrorCode::kNotSupported,
              "MCU row {} has a coefficient that 8-bit samples cannot lead to", row);
}

Status PayloadWriter::pack_row(const PayloadHead& head, int row, std::vector<std::byte>& out) {
  const auto components = static_cast<std::size_t>(head.component_count);
  begin_row(head, out);
  for (int segment = 0; segment < head.segments_across; ++segment) {
    const auto planes =
        payload::segment_planes(head, {row, 0, head.segments_across}, segment, targets_);
    if (!kernels::pack_segment(std::span(planes).first(components), out)) return too_large(row);
    segment_done(segment, out);
  }
  row_done(row, out);
  return {};
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
