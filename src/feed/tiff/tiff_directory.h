#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// Whether a file begins as a TIFF does, BigTIFF left out.
bool is_tiff(std::span<const std::byte> file);

/// A tag's number.
enum class TiffTag : std::uint16_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kCompression = 259,
  kPhotometric = 262,
  kFillOrder = 266,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamples = 277,
  kRowsOfStrip = 278,
  kStripBytes = 279,
  kPlanes = 284,
  kPredictor = 317,
  kColours = 320,
  kTileWidth = 322,
  kTileHeight = 323,
  kTileOffsets = 324,
  kTileBytes = 325,
  kInkSet = 332,
  kExtraSamples = 338,
  kSampleFormat = 339,
  kXmp = 700,
};

/// The tags of a file's first image.
/// Source: https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf
class TiffDirectory {
 public:
  /// `file` must stay valid. Errors: kCorruptData where the file is damaged or cut short,
  /// kNotSupported where PIL would pass over tags, or may read them differently from libtiff.
  Status read(std::span<const std::byte> file);

  bool has(TiffTag tag) const { return find(tag) != nullptr; }
  /// Whole numbers, at least one. kNotSupported where the tag holds something else, or is missing.
  Status numbers(TiffTag tag, std::vector<std::uint32_t>& numbers) const;
  /// The only one; `otherwise` where there is no such tag.
  Result<std::uint32_t> number(TiffTag tag, std::optional<std::uint32_t> otherwise = {}) const;
  /// What the tag holds, as it lies; nothing without it.
  std::span<const std::byte> bytes(TiffTag tag) const;

 private:
  struct Entry {
    std::uint16_t tag = 0;
    std::uint16_t type = 0;
    std::uint32_t count = 0;
    std::span<const std::byte> held;
  };
  const Entry* find(TiffTag tag) const;
  std::uint32_t read_number(std::span<const std::byte> bytes, std::size_t at, int size) const;
  Result<Entry> entry_at(std::span<const std::byte> file, std::size_t at) const;

  bool is_big_endian_ = false;
  std::vector<Entry> entries_;  // by their tags
};

}  // namespace unstarve::feed
