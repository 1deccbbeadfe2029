#include "feed/jpeg/payload/payload.h"

#include <algorithm>

#include "base/check.h"
#include "feed/jpeg/payload/payload_layout.h"

namespace unstarve::feed {
namespace {

using payload::FixedHead;
using payload::RowEntry;

tl::unexpected<Error> bad_head(const char* problem) {
  return fail(ErrorCode::kCorruptData, "the head of a coefficient payload is broken: {}", problem);
}

FixedHead read_fixed(std::span<const std::byte> bytes) {
  FixedHead fixed;
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  return fixed;
}

bool is_color(const FixedHead& fixed) {
  if (fixed.component_count == 1) return fixed.color == std::uint8_t(ColorForm::kGrey);
  return fixed.color == std::uint8_t(ColorForm::kRgb) ||
         fixed.color == std::uint8_t(ColorForm::kYcc);
}

Status read_components(const FixedHead& fixed, PayloadHead& head) {
  for (std::size_t i = 0; i < fixed.component_count; ++i) {
    const FixedHead::Component& from = fixed.components[i];
    PayloadComponent& to = head.components[i];
    to.id = from.id;
    to.horizontal = from.sampling >> 4;
    to.vertical = from.sampling & 15;
    to.table = from.table;
    const bool sampled = to.horizontal >= 1 && to.horizontal <= payload::kMaxSampling &&
                         to.vertical >= 1 && to.vertical <= payload::kMaxSampling;
    if (!sampled) return bad_head("a sampling factor outside of 1..4");
    if (to.table >= head.table_count) return bad_head("a component without quantisation table");
  }
  return {};
}

Status read_fields(const FixedHead& fixed, PayloadHead& head) {
  if (fixed.width == 0 || fixed.height == 0) return bad_head("an image without pixels");
  if (fixed.component_count != 1 && fixed.component_count != 3) {
    return bad_head("neither one nor three components");
  }
  if (!is_color(fixed)) return bad_head("an unknown colour space");
  if (fixed.table_count < 1 || fixed.table_count > kernels::kMaxComponents) {
    return bad_head("the number of quantisation tables");
  }
  if (fixed.markers_size > payload::kMaxMarkersSize) return bad_head("the size of the markers");
  head.size = {fixed.width, fixed.height};
  head.color = static_cast<ColorForm>(fixed.color);
  head.component_count = fixed.component_count;
  head.table_count = fixed.table_count;
  head.markers_size = fixed.markers_size;
  head.markers_checksum = fixed.markers_checksum;
  return read_components(fixed, head);
}

/// Takes the quantisation tables off the front of `rest`.
bool read_tables(const FixedHead& fixed, std::span<const std::byte>& rest, PayloadHead& head) {
  for (unsigned table = 0; table < fixed.table_count; ++table) {
    const std::size_t step = (fixed.wide_tables >> table & 1U) != 0 ? 2 : 1;
    if (rest.size() < kernels::kBlockCoefficients * step) return false;
    for (std::size_t i = 0; i < kernels::kBlockCoefficients; ++i) {
      std::uint16_t value = 0;
      std::memcpy(&value, rest.data() + i * step, step);
      head.tables[table][i] = value;
    }
    rest = rest.subspan(kernels::kBlockCoefficients * step);
  }
  return true;
}

/// The table of rows is all that is left of the head.
bool read_rows(std::span<const std::byte> rest, std::uint32_t size, PayloadHead& head) {
  const auto rows = static_cast<std::size_t>(head.mcu_rows);
  if (rest.size() != rows * sizeof(RowEntry)) return false;
  const auto segments = static_cast<std::uint32_t>(head.segments_across);
  const std::uint32_t smallest = segments * sizeof(std::uint16_t);
  const std::uint32_t largest = smallest + segments * 0xFFFF;
  head.row_offsets.resize(rows + 1);
  head.row_checksums.resize(rows);
  std::uint64_t offset = size;
  for (std::size_t row = 0; row < rows; ++row) {
    RowEntry entry;
    std::memcpy(&entry, rest.data() + row * sizeof(entry), sizeof(entry));
    if (entry.size < smallest || entry.size > largest) return false;
    head.row_offsets[row] = offset;
    head.row_checksums[row] = entry.checksum;
    offset += entry.size;
  }
  head.row_offsets[rows] = offset;
  return true;
}

tl::unexpected<Error> bad_row(int row, const char* problem) {
  return fail(ErrorCode::kCorruptData, "coefficients of MCU row {} are broken: {}", row, problem);
}

}  // namespace

Result<std::size_t> head_size(std::span<const std::byte> prefix) {
  if (prefix.size() < kHeadPrefixBytes) return bad_head("it ends early");
  std::uint32_t size = 0;
  std::memcpy(&size, prefix.data() + offsetof(FixedHead, head_size), sizeof(size));
  // The largest has three wide tables and a row for every 8 lines.
  constexpr std::size_t kLargest = sizeof(FixedHead) + 3 * 128 + 8192 * sizeof(RowEntry);
  if (size < sizeof(FixedHead) || size > kLargest) return bad_head("its size is impossible");
  return std::size_t{size};
}

Status parse_head(std::span<const std::byte> bytes, PayloadHead& head) {
  const Result<std::size_t> size = head_size(bytes);
  if (!size) return forward_error(size);
  if (bytes.size() < *size) return bad_head("it ends early");
  bytes = bytes.first(*size);
  const FixedHead fixed = read_fixed(bytes);
  if (payload::checksum(bytes.subspan(sizeof(fixed.checksum))) != fixed.checksum) {
    return bad_head("its checksum is wrong");
  }
  if (fixed.version != payload::kVersion) {
    return fail(ErrorCode::kNotSupported,
                "version {} of the coefficient payload; this program reads version {}",
                fixed.version, payload::kVersion);
  }
  if (Status read = read_fields(fixed, head); !read) return read;
  std::span<const std::byte> rest = bytes.subspan(sizeof(fixed));
  if (!read_tables(fixed, rest, head)) return bad_head("its tables are cut off");
  payload::derive_geometry(head);
  if (!read_rows(rest, fixed.head_size, head)) return bad_head("its table of rows");
  return {};
}

PayloadRange rows_range(const PayloadHead& head, int first, int count) {
  UNSTARVE_CHECK(first >= 0 && count >= 1 && count <= head.mcu_rows - first,
                 "MCU rows of the image");
  const auto from = static_cast<std::size_t>(first);
  const std::uint64_t begin = head.row_offsets[from];
  const std::uint64_t end = head.row_offsets[from + static_cast<std::size_t>(count)];
  return {begin, static_cast<std::size_t>(end - begin) + kRowsPadding};
}

PayloadRange markers_range(const PayloadHead& head) {
  return {head.row_offsets.back() + kRowsPadding, head.markers_size};
}

std::uint64_t payload_size(const PayloadHead& head) {
  return head.row_offsets.back() + kRowsPadding + head.markers_size;
}

std::span<const std::byte> row_of(const PayloadHead& head, int first, int row,
                                  std::span<const std::byte> bytes) {
  const std::uint64_t base = head.row_offsets[std::size_t(first)];
  const std::uint64_t begin = head.row_offsets[std::size_t(row)];
  const std::uint64_t end = head.row_offsets[std::size_t(row) + 1];
  UNSTARVE_CHECK(row >= first && end - base + kRowsPadding <= bytes.size(),
                 "the row lies in the bytes that were read");
  return bytes.subspan(static_cast<std::size_t>(begin - base),
                       static_cast<std::size_t>(end - begin));
}

Status check_rows(const PayloadHead& head, int first, int count, std::span<const std::byte> bytes) {
  for (int row = first; row < first + count; ++row) {
    const std::uint32_t found = payload::checksum(row_of(head, first, row, bytes));
    if (found != head.row_checksums[std::size_t(row)]) {
      return bad_row(row, "their checksum is wrong");
    }
  }
  return {};
}

Status unpack_segments(const PayloadHead& head, const SegmentRange& range,
                       std::span<const std::byte> row_bytes,
                       std::span<const CoefficientTarget> targets) {
  UNSTARVE_CHECK(range.first >= 0 && range.count >= 0 &&
                     range.count <= head.segments_across - range.first &&
                     targets.size() >= std::size_t(head.component_count),
                 "segments of the row, and a target for every component");
  const std::size_t table_size = std::size_t(head.segments_across) * sizeof(std::uint16_t);
  if (row_bytes.size() < table_size) return bad_row(range.row, "the row is too short");
  const auto size_of = [&](int segment) {
    std::uint16_t size = 0;
    std::memcpy(&size, row_bytes.data() + std::size_t(segment) * sizeof(size), sizeof(size));
    return std::size_t{size};
  };
  std::size_t offset = table_size;
  for (int segment = 0; segment < range.first; ++segment) offset += size_of(segment);
  const auto components = static_cast<std::size_t>(head.component_count);
  for (int segment = range.first; segment < range.first + range.count; ++segment) {
    const std::size_t size = size_of(segment);
    if (offset > row_bytes.size() || size > row_bytes.size() - offset) {
      return bad_row(range.row, "a segment lies outside of the row");
    }
    const auto planes = payload::segment_planes(head, range, segment, targets);
    if (!kernels::unpack_segment(row_bytes.subspan(offset, size),
                                 std::span(planes).first(components))) {
      return bad_row(range.row, "a segment is not one");
    }
    offset += size;
  }
  return {};
}

}  // namespace unstarve::feed
