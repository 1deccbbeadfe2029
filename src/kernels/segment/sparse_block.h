#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/segment/segment.h"

namespace unstarve::kernels {

/// One block as an entropy decoder meets it: only the coefficients that are not zero.
struct alignas(64) SparseBlock {
  std::int16_t values[kBlockCoefficients];  // AC, in zigzag order; `count` of them
  std::uint64_t nonzero = 0;                // bit k: zigzag position k is one of them; bit 0 unused
  std::int16_t dc = 0;
  std::int16_t count = 0;
};

/// The blocks of one component in one segment, as SegmentPlane.
struct SparsePlane {
  const SparseBlock* blocks = nullptr;
  std::ptrdiff_t row_stride = 0;  // blocks from one block row to the next
  int columns = 0;
  int rows = 0;
};

/// Appends the packed segment to `out`: the same bytes as pack_segment() of the same blocks, for
/// less work. Returns false, having appended nothing, where pack_segment() does.
bool pack_sparse_segment(std::span<const SparsePlane> planes, std::vector<std::byte>& out);

}  // namespace unstarve::kernels
