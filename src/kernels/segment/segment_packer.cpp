// What lies around the blocks of a packed segment: their places, and the DC values.
#include "kernels/segment/segment_packer.h"

#include <algorithm>

#include "kernels/segment/segment_write.h"

namespace unstarve::kernels {
namespace {

/// The DC values of one component; null when one is too large for the format.
std::byte* write_dc_values(std::span<const std::int16_t> values, std::byte* out) {
  std::int16_t smallest = segment::kMaxDc;  // 16 bits, as vectors compare eight of them
  std::int16_t largest = segment::kMinDc;
  for (const std::int16_t value : values) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  if (smallest < segment::kMinDc || largest > segment::kMaxDc) return nullptr;
  const int width = segment::width_of(largest - smallest);
  segment::BitWriter bits(out);
  bits.put(static_cast<std::uint64_t>(smallest - segment::kMinDc), 12);
  bits.put(static_cast<std::uint64_t>(width), 4);
  const auto field = [&](std::size_t i) {
    return static_cast<std::uint64_t>(values[i] - smallest);
  };
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {  // four at once: at most 44 bits
    const std::uint64_t low = field(i) | field(i + 1) << width;
    const std::uint64_t high = field(i + 2) | field(i + 3) << width;
    bits.put(low | high << 2 * width, 4 * width);
  }
  for (; i < values.size(); ++i) bits.put(field(i), width);
  return bits.flush();
}

void make_sparse(const std::int16_t* block, SparseBlocks& blocks, std::size_t place) {
  // Without branches: which coefficients are zero cannot be foreseen.
  std::uint64_t nonzero = 0;
  int count = 0;
  for (int k = 1; k < kBlockCoefficients; ++k) {
    const std::int16_t value = block[segment::kNaturalOrder[static_cast<std::size_t>(k)]];
    blocks.values[place][count] = value;
    nonzero |= std::uint64_t{value != 0} << k;
    count += value != 0 ? 1 : 0;
  }
  blocks.nonzero[place] = nonzero;
  blocks.dc[place] = block[0];
}

}  // namespace

void SegmentPacker::begin(std::span<const Shape> components) {
  std::size_t block = 0;
  rows_ = {};
  components_ = components.size();
  for (std::size_t i = 0; i < components_; ++i) {
    first_[i] = block;
    const auto columns = static_cast<std::size_t>(components[i].columns);
    for (std::size_t row = 0; row < static_cast<std::size_t>(components[i].rows); ++row) {
      rows_[i * kMaxRows + row] = {block, block + columns};
      block += columns;
    }
  }
  first_[components_] = block;
}

std::byte* SegmentPacker::write_dc(std::byte* out) const {
  for (std::size_t i = 0; i < components_ && out != nullptr; ++i) {
    out = write_dc_values(std::span(blocks_.dc).subspan(first_[i], first_[i + 1] - first_[i]), out);
  }
  return out;
}

bool SegmentPacker::finish(std::vector<std::byte>& out) {
  // Not in `out` itself: growing it by the most that a segment can take would clear all of that.
  std::array<std::byte, segment::kSegmentBytesMax> packed;
  const std::size_t count = first_[components_];
  std::fill_n(blocks_.nonzero + count, SparseBlocks::kPadding, std::uint64_t{0});
  std::byte* end = write_dc(packed.data());
  if (end != nullptr) end = segment::write_blocks(blocks_, count, end);
  if (end == nullptr) return false;
  const std::byte* begin = packed.data();
  out.insert(out.end(), begin, static_cast<const std::byte*>(end));
  return true;
}

bool pack_segment(std::span<const SegmentPlane> planes, std::vector<std::byte>& out) {
  SegmentPacker packer;
  std::array<SegmentPacker::Shape, kMaxComponents> shapes;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    shapes[i] = {planes[i].columns * planes[i].rows, 1};  // as if its block rows were one
  }
  packer.begin(std::span(shapes).first(planes.size()));
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (int row = 0; row < planes[i].rows; ++row) {
      const std::int16_t* block = planes[i].coefficients + row * planes[i].row_stride;
      for (int column = 0; column < planes[i].columns; ++column, block += kBlockCoefficients) {
        make_sparse(block, packer.blocks(), packer.next(i, 0));
      }
    }
  }
  return packer.finish(out);
}

}  // namespace unstarve::kernels
