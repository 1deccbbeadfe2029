#include "feed/jpeg/baseline/entropy_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/segment/segment_layout.h"

namespace unstarve::feed {
namespace {

// An MCU has at most 10 blocks of 64 symbols of at most 16 + 11 bits, so that a decoder that looks
// only after each MCU whether it has run past the end stays within this many bytes.
constexpr std::size_t kPadding = 10 * 64 * 4 + 64;

// Largest categories that an encoder of 8-bit samples can write (T.81, F.1.2.1.2 and F.1.2.2.1).
constexpr int kMaxDcBits = 11;
constexpr int kMaxAcBits = 10;
constexpr int kLooksPerRefill = 4;
constexpr int kMinDc = -32768;  // what libjpeg's coefficients can hold
constexpr int kMaxDc = 32767;

std::uint64_t load_big_endian(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

tl::unexpected<Error> damaged() {
  return fail(ErrorCode::kCorruptData, "damaged entropy-coded data");
}

}  // namespace

/// Bits of the stream, the next one highest. Works on copies of the decoder's state, so that the
/// compiler keeps them in registers.
struct EntropyDecoder::BitReader {
  const std::uint8_t* at;
  std::uint64_t bits;
  int count;  // valid bits in `bits`; those below them are zero or equal to what follows

  /// At least 56 bits. Reads the 8 bytes at `at`.
  void refill() {
    bits |= load_big_endian(at) >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  void drop(int length) {
    bits <<= length;
    count -= length;
  }
  int take(int length) {  // 1..16
    const auto value = static_cast<int>(bits >> (64 - length));
    drop(length);
    return value;
  }

  /// One block's DC difference. False: no such code.
  bool dc_difference(const HuffmanTable& table, int& difference) {
    HuffmanTable::Entry entry = table.look(bits);
    difference = entry.value();
    if (difference == 0) {
      if (entry.length() == 0) entry = table.decode_long(bits);
      if (entry.length() == 0 || entry.symbol() > kMaxDcBits) return false;
      drop(entry.length());
      const int length = entry.symbol();
      if (length > 0) difference = extend_sign(take(length), length);
      return true;
    }
    drop(entry.length());
    return entry.run() == 0;
  }

  /// The AC coefficients of one block, each handed to `take_value(k, value)`. False: no such code,
  /// or more than 63 coefficients.
  template <class TakeValue>
  bool ac_coefficients(const HuffmanTable& table, TakeValue take_value) {
    // Four whole coefficients of at most 11 bits fit into the 56 bits that a refill gives. The
    // next look comes before the refill, whose load would otherwise be waited for.
    int k = 0;  // the last coefficient read
    for (;;) {
      HuffmanTable::Entry entry = table.look(bits);
      refill();
      for (int round = 0; round < kLooksPerRefill; ++round) {
        if (entry.value() == 0) break;
        k += entry.run() + 1;
        if (k > 63) return false;
        take_value(k, entry.value());
        drop(entry.length());
        if (k == 63) return true;
        entry = table.look(bits);
      }
      if (entry.value() != 0) continue;
      refill();
      if (entry.length() == 0) entry = table.decode_long(bits);
      if (entry.length() == 0) return false;
      drop(entry.length());
      const int length = entry.magnitude_bits();
      if (length == 0) {
        if (entry.run() == 0) return true;  // the end of the block
        if (entry.run() != 15) return false;
        k += 16;
        if (k > 62) return false;
        continue;
      }
      if (length > kMaxAcBits) return false;
      k += entry.run() + 1;
      if (k > 63) return false;
      take_value(k, extend_sign(take(length), length));
      if (k == 63) return true;
    }
  }
};

/// Where a block goes as it is met.
struct EntropyDecoder::Place {
  kernels::SparseBlocks* blocks = nullptr;  // null: nowhere
  std::size_t place = 0;
};

/// What becomes of the MCUs that are decoded.
struct EntropyDecoder::Sinks {
  std::span<const BlockTarget> targets;  // of those in `wanted`; empty: of none
  McuSpan wanted;
  kernels::SegmentPacker* packer;  // of all; null: of none

  std::int16_t* block(std::size_t component, int column, int v) const {
    if (targets.empty() || column < 0) return nullptr;
    const BlockTarget& to = targets[component];
    if (column >= to.columns || v >= to.rows) return nullptr;
    return to.coefficients + v * to.row_stride + std::ptrdiff_t{column} * 64;
  }
  Place place(std::size_t component, int v) const {
    if (packer == nullptr) return {};
    return {&packer->blocks(), packer->next(component, static_cast<std::size_t>(v))};
  }
};

Status EntropyDecoder::begin(const BaselineFrame& frame) {
  frame_ = &frame;
  if (Status status = unstuff(frame.scan); !status) return status;
  part_ = 0;
  at_ = 0;
  bits_ = 0;
  bit_count_ = 0;
  dc_ = {};
  mcus_to_restart_ =
      frame.restart_interval > 0 ? frame.restart_interval : std::numeric_limits<int>::max();
  return {};
}

/// Copies the scan without the zero bytes after each 0xFF, so that bits can be loaded by the word.
Status EntropyDecoder::unstuff(std::span<const std::byte> scan) {
  if (bytes_.size() < scan.size() + kPadding) bytes_.resize(scan.size() + kPadding);
  parts_.clear();
  const auto* at = reinterpret_cast<const std::uint8_t*>(scan.data());
  const std::uint8_t* end = at + scan.size();
  std::uint8_t* out = bytes_.data();
  std::size_t part_begin = 0;
  int next_restart = 0;
  const auto close_part = [&] {
    const auto size = static_cast<std::size_t>(out - bytes_.data());
    parts_.push_back({part_begin, size});
    part_begin = size;
  };
  for (;;) {
    const auto* escape =
        static_cast<const std::uint8_t*>(std::memchr(at, 0xFF, static_cast<std::size_t>(end - at)));
    const std::uint8_t* stop = escape == nullptr ? end : escape;
    std::memcpy(out, at, static_cast<std::size_t>(stop - at));
    out += stop - at;
    // A file that ends within its scan: how much of it is usable is for libjpeg to say.
    if (escape == nullptr || end - escape < 2) return damaged();
    const int code = escape[1];
    at = escape + 2;
    if (code == 0) {
      *out++ = 0xFF;
    } else if (code >= 0xD0 && code <= 0xD7) {
      if (frame_->restart_interval == 0 || code != 0xD0 + next_restart) return damaged();
      next_restart = (next_restart + 1) % 8;
      close_part();
    } else {
      break;  // the scan's end
    }
  }
  close_part();
  std::memset(out, 0, kPadding);
  return {};
}

/// Moves on to the part after the next restart marker; false when there is none, or when this part
/// was not used up to its last byte.
bool EntropyDecoder::restart() {
  const std::size_t used = at_ - static_cast<std::size_t>(bit_count_ / 8);
  if (used != parts_[part_].end || part_ + 1 == parts_.size()) return false;
  ++part_;
  at_ = parts_[part_].begin;
  bits_ = 0;
  bit_count_ = 0;
  dc_ = {};
  mcus_to_restart_ = frame_->restart_interval;
  return true;
}

/// Writes the block to where it is wanted, natural or sparse or both or not at all.
bool EntropyDecoder::decode_block(BitReader& reader, std::size_t component, std::int16_t* block,
                                  Place place) {
  const BaselineFrame::Component& tables = frame_->components[component];
  const HuffmanTable& dc_table = frame_->dc_tables[static_cast<std::size_t>(tables.dc_table)];
  const HuffmanTable& ac_table = frame_->ac_tables[static_cast<std::size_t>(tables.ac_table)];
  reader.refill();
  int difference = 0;
  if (!reader.dc_difference(dc_table, difference)) return false;
  int& dc = dc_[component];
  dc += difference;
  if (dc < kMinDc || dc > kMaxDc) return false;
  const auto to_natural = [block](int k, int value) {
    block[kernels::segment::kNaturalOrder[static_cast<std::size_t>(k)]] =
        static_cast<std::int16_t>(value);
  };
  if (block != nullptr) {
    std::memset(block, 0, 64 * sizeof(*block));
    block[0] = static_cast<std::int16_t>(dc);
    if (place.blocks == nullptr) return reader.ac_coefficients(ac_table, to_natural);
  }
  if (place.blocks == nullptr) return reader.ac_coefficients(ac_table, [](int, int) {});
  std::int16_t* sparse = place.blocks->values[place.place];
  std::uint64_t nonzero = 0;
  const auto to_sparse = [&](int k, int value) {
    *sparse++ = static_cast<std::int16_t>(value);
    nonzero |= std::uint64_t{1} << k;
  };
  const bool sound = block == nullptr ? reader.ac_coefficients(ac_table, to_sparse)
                                      : reader.ac_coefficients(ac_table, [&](int k, int value) {
                                          to_natural(k, value);
                                          to_sparse(k, value);
                                        });
  place.blocks->dc[place.place] = static_cast<std::int16_t>(dc);
  place.blocks->nonzero[place.place] = nonzero;
  return sound;
}

bool EntropyDecoder::decode_mcu(BitReader& reader, int mcu, const Sinks& sinks) {
  const bool is_wanted = mcu >= sinks.wanted.first && mcu < sinks.wanted.first + sinks.wanted.count;
  for (std::size_t i = 0; i < static_cast<std::size_t>(frame_->component_count); ++i) {
    const BaselineFrame::Component& component = frame_->components[i];
    const int first = mcu * component.horizontal;
    const int first_wanted = sinks.wanted.first * component.horizontal;
    for (int v = 0; v < component.vertical; ++v) {
      for (int h = 0; h < component.horizontal; ++h) {
        const int column = is_wanted ? first + h - first_wanted : -1;
        if (!decode_block(reader, i, sinks.block(i, column, v), sinks.place(i, v))) return false;
      }
    }
  }
  return true;
}

bool EntropyDecoder::decode_mcus(McuSpan span, const Sinks& sinks) {
  BitReader reader{bytes_.data() + at_, bits_, bit_count_};
  for (int mcu = span.first; mcu < span.first + span.count; ++mcu) {
    if (mcus_to_restart_ == 0) {
      save(reader);
      if (!restart()) return false;
      reader = {bytes_.data() + at_, bits_, bit_count_};
    }
    --mcus_to_restart_;
    if (!decode_mcu(reader, mcu, sinks)) return false;
    if (bytes_.data() + parts_[part_].end < reader.at - reader.count / 8) return false;
  }
  save(reader);
  return true;
}

void EntropyDecoder::save(const BitReader& reader) {
  at_ = static_cast<std::size_t>(reader.at - bytes_.data());
  bits_ = reader.bits;
  bit_count_ = reader.count;
}

Status EntropyDecoder::next_row(McuSpan wanted, std::span<const BlockTarget> targets) {
  if (!decode_mcus({0, frame_->mcus_across}, {targets, wanted, nullptr})) return damaged();
  return {};
}

Status EntropyDecoder::next_mcus(McuSpan mcus, McuSpan wanted, std::span<const BlockTarget> targets,
                                 kernels::SegmentPacker& packer) {
  if (!decode_mcus(mcus, {targets, wanted, &packer})) return damaged();
  return {};
}

Status EntropyDecoder::pass_rows(int count) {
  for (int row = 0; row < count; ++row) {
    if (!decode_mcus({0, frame_->mcus_across}, {{}, {}, nullptr})) return damaged();
  }
  return {};
}

}  // namespace unstarve::feed
