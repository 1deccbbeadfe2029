#include "feed/tiff/tiff_pieces.h"

#include <algorithm>
#include <cstring>

#include "feed/data/decode_errors.h"
#include "feed/data/room_in.h"

namespace unstarve::feed {
namespace {

/// What so many bytes may be at most, packed by deflate or as runs.
constexpr std::size_t kMostOfADeflatedByte = 1032;
constexpr std::size_t kMostOfARun = 64;

std::span<const std::uint8_t> as_samples(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

/// Each sample is told by its difference to that of the pixel to its left.
void add_differences(std::span<std::uint8_t> rows, std::size_t bytes_of_a_row,
                     std::size_t samples) {
  for (std::size_t begin = 0; begin < rows.size(); begin += bytes_of_a_row) {
    std::uint8_t* const row = rows.data() + begin;
    for (std::size_t i = samples; i < bytes_of_a_row; ++i) {
      row[i] = static_cast<std::uint8_t>(row[i] + row[i - samples]);
    }
  }
}

}  // namespace

Status unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out) {
  constexpr std::size_t kNothing = 128;  // above it are runs, below it bytes as they are
  std::size_t at = 0;
  for (std::size_t done = 0; done < out.size();) {
    if (at == packed.size()) return cut_short();
    const auto head = std::to_integer<std::size_t>(packed[at++]);
    if (head == kNothing) continue;
    const bool is_run = head > kNothing;
    const std::size_t count = is_run ? 2 * kNothing + 1 - head : head + 1;
    const std::size_t held = is_run ? 1 : count;
    if (held > packed.size() - at) return cut_short();
    if (count > out.size() - done) {
      return fail(ErrorCode::kCorruptData, "a TIFF with a run that is too long");
    }
    if (is_run) {
      std::fill_n(out.begin() + std::ptrdiff_t(done), count, packed[at]);
    } else {
      std::memcpy(out.data() + done, packed.data() + at, count);
    }
    at += held;
    done += count;
  }
  return {};
}

Result<std::span<const std::uint8_t>> TiffPieces::unpacked(const TiffFile& tiff,
                                                           std::span<const std::byte> packed,
                                                           std::size_t bytes) {
  if (tiff.packing == TiffPacking::kNone) return as_samples(packed);
  if (tiff.packing == TiffPacking::kLzw) {
    constexpr int kValueBits = 8;
    return lzw_.unpack(packed, LzwKind::kTiff, kValueBits, bytes);
  }
  const bool is_deflated = tiff.packing == TiffPacking::kDeflate;
  if (bytes / (is_deflated ? kMostOfADeflatedByte : kMostOfARun) > packed.size()) {
    return cut_short();
  }
  const auto out = room_in(out_, bytes);
  const Status done = is_deflated ? inflater_.inflate(packed, out) : unpack_bits(packed, out);
  if (!done) return forward_error(done);
  return as_samples(out);
}

Result<std::span<const std::uint8_t>> TiffPieces::unpack(const TiffFile& tiff, std::size_t index) {
  const std::size_t bytes_of_a_row = tiff.bytes_of_a_row();
  const std::size_t bytes = bytes_of_a_row * static_cast<std::size_t>(tiff.rows_of(index));
  const auto rows = unpacked(tiff, tiff.pieces[index], bytes);
  if (!rows || !tiff.is_differences) return rows;
  sums_.assign(rows->begin(), rows->end());
  add_differences(sums_, bytes_of_a_row, static_cast<std::size_t>(tiff.samples));
  return std::span<const std::uint8_t>(sums_);
}

}  // namespace unstarve::feed
