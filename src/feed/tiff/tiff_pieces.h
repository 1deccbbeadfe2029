#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/lzw/lzw.h"
#include "feed/png/inflate.h"
#include "feed/tiff/tiff_file.h"

namespace unstarve::feed {

/// Unpacks a TIFF's strips and tiles. Thread rule: one thread at a time.
class TiffPieces {
 public:
  /// The rows of piece `index`, as TiffFile::bytes_of_a_row() says, valid until the next call and
  /// as long as the file is.
  /// Errors: kCorruptData where the piece is damaged or cut short; before memory is taken where so
  /// few bytes cannot hold it.
  Result<std::span<const std::uint8_t>> unpack(const TiffFile& tiff, std::size_t index);

 private:
  Result<std::span<const std::uint8_t>> unpacked(const TiffFile& tiff,
                                                 std::span<const std::byte> packed,
                                                 std::size_t bytes);

  Inflater inflater_;
  LzwUnpacker lzw_;
  std::vector<std::byte> out_;
  std::vector<std::uint8_t> sums_;  // of differences
};

/// Apple's packing of runs. Fills `out`; what follows is passed over.
/// Errors: kCorruptData where `packed` ends first, or a run reaches past the end.
Status unpack_bits(std::span<const std::byte> packed, std::span<std::byte> out);

}  // namespace unstarve::feed
