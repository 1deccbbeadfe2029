#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "feed/jpeg/payload/payload.h"

// The bytes of a payload, for those who read and write them; docs/formats/coefficients.md describes
// them.
static_assert(std::endian::native == std::endian::little);

namespace unstarve::feed::payload {

inline constexpr std::uint8_t kVersion = 1;

/// The head's first bytes; tables and the table of rows follow.
struct FixedHead {
  std::uint32_t checksum = 0;  // of the head's bytes after this field
  std::uint32_t head_size = 0;
  std::uint8_t version = kVersion;
  std::uint8_t color = 0;
  std::uint8_t component_count = 0;
  std::uint8_t table_count = 0;
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  std::uint32_t markers_size = 0;
  std::uint32_t markers_checksum = 0;
  struct Component {
    std::uint8_t id = 0;
    std::uint8_t sampling = 0;  // horizontal << 4 | vertical
    std::uint8_t table = 0;
  };
  Component components[kernels::kMaxComponents] = {};
  std::uint8_t wide_tables = 0;  // bit i: table i has 2 bytes per step
  std::uint8_t reserved[2] = {};
};
static_assert(sizeof(FixedHead) == 36);

struct RowEntry {
  std::uint32_t size = 0;
  std::uint32_t checksum = 0;
};

inline constexpr int kMaxSize = 65535;  // pixels, each way
inline constexpr int kMaxSampling = 4;
inline constexpr std::uint32_t kMaxMarkersSize = 64U << 20U;

/// The low half of XXH3's 64 bits.
std::uint32_t checksum(std::span<const std::byte> bytes);

/// Derives what the size, the components and their sampling imply; row tables stay untouched.
void derive_geometry(PayloadHead& head);

/// The planes of one segment, at given targets; returns one per component.
std::array<kernels::SegmentPlane, kernels::kMaxComponents> segment_planes(
    const PayloadHead& head, const SegmentRange& range, int segment,
    std::span<const CoefficientTarget> targets);

}  // namespace unstarve::feed::payload
