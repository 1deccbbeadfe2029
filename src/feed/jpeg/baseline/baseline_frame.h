#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/baseline/huffman_table.h"
#include "feed/jpeg/payload/payload.h"

namespace unstarve::feed {

/// What the headers of a baseline JPEG say: one scan that holds all components of 8-bit samples,
/// which is what nearly all JPEGs are. Reuse one object: it holds 64 KB of tables.
struct BaselineFrame {
  struct Component {
    int id = 0;
    int horizontal = 1;  // sampling factors, 1..4
    int vertical = 1;
    int quantisation = 0;  // indices of the tables below
    int dc_table = 0;
    int ac_table = 0;
  };

  ImageSize size;
  ColorForm color = ColorForm::kYcc;
  int component_count = 0;
  std::array<Component, 3> components;
  /// Quantisation steps in natural (row-major) order.
  std::array<std::array<std::uint16_t, 64>, 4> quantisation;
  std::array<HuffmanTable, 4> dc_tables;
  std::array<HuffmanTable, 4> ac_tables;
  int restart_interval = 0;         // MCUs; 0: none
  std::span<const std::byte> scan;  // the entropy-coded data, and what follows it
  std::vector<std::byte> markers;   // APPn and COM segments before the scan, as they stood

  int max_horizontal = 1;  // the largest sampling factors
  int max_vertical = 1;
  int mcus_across = 0;
  int mcu_rows = 0;
};

/// Reads the headers up to the scan's data. kNotSupported: another kind of JPEG (progressive,
/// arithmetic, 12 bits, several scans, 2 or 4 components, ...) or headers that only libjpeg should
/// judge. `frame` points into `bytes`.
Status read_baseline_frame(std::span<const std::byte> bytes, BaselineFrame& frame);

}  // namespace unstarve::feed
