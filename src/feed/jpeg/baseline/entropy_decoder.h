#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/jpeg/baseline/baseline_frame.h"
#include "kernels/segment/segment_packer.h"

namespace unstarve::feed {

/// Where the blocks of one component in an MCU row go: block (v, column) begins at
/// coefficients[v * row_stride + column * 64], with column counted from the wanted MCUs' first.
/// The blocks past `columns` and `rows`, which only fill the last MCUs, are passed over.
struct BlockTarget {
  std::int16_t* coefficients = nullptr;
  std::ptrdiff_t row_stride = 0;  // coefficients from one block row to the next
  int columns = 0;                // blocks
  int rows = 0;
};

/// MCU columns.
struct McuSpan {
  int first = 0;
  int count = 0;
};

/// Huffman decoding of a baseline JPEG, MCU row by MCU row, from the top. Blocks outside of the
/// wanted columns are passed over, which costs less than storing them.
///
///   decoder.begin(frame);
///   decoder.pass_rows(3);
///   decoder.next_row({first, count}, targets);   // ...
///
/// It gives up, with kCorruptData, on whatever libjpeg would warn of; libjpeg then decides what the
/// damage means. Nothing outside of `frame.scan` is read, whatever is in it.
/// Thread rule: one thread at a time. Keeps its memory from image to image.
class EntropyDecoder {
 public:
  /// `frame` and its bytes must stay until the last row is read.
  Status begin(const BaselineFrame& frame);
  /// Reads the next MCU row. Blocks come in natural order, quantised, with absolute DC values.
  Status next_row(McuSpan wanted, std::span<const BlockTarget> targets);
  /// Reads `mcus`, which are the next ones of an MCU row, in the same way, and adds all their
  /// blocks to `packer`.
  Status next_mcus(McuSpan mcus, McuSpan wanted, std::span<const BlockTarget> targets,
                   kernels::SegmentPacker& packer);
  /// Passes over MCU rows.
  Status pass_rows(int count);

 private:
  struct BitReader;
  struct Part {  // between restart markers
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  Status unstuff(std::span<const std::byte> scan);
  bool restart();
  void save(const BitReader& reader);
  struct Sinks;
  struct Place;
  bool decode_block(BitReader& reader, std::size_t component, std::int16_t* block, Place place);
  bool decode_mcu(BitReader& reader, int mcu, const Sinks& sinks);
  bool decode_mcus(McuSpan span, const Sinks& sinks);

  const BaselineFrame* frame_ = nullptr;
  std::vector<std::uint8_t> bytes_;  // the scan without stuffing and markers, padded
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  int mcus_to_restart_ = 0;
  // The reader's state between calls.
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  int bit_count_ = 0;
  std::array<int, 3> dc_ = {};
};

}  // namespace unstarve::feed
