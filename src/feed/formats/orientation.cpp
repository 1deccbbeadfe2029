#include "feed/formats/orientation.h"

#include <cstdint>
#include <string_view>

namespace unstarve::feed {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kEntryBytes = 12;
constexpr std::uint32_t kTiffMark = 42;
constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;  // the type of its value
constexpr std::uint32_t kUpright = 1;

class Numbers {
 public:
  Numbers(std::span<const std::byte> bytes, bool is_big_endian)
      : bytes_(bytes), is_big_endian_(is_big_endian) {}
  std::uint32_t at(std::size_t place, std::size_t size) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t next = is_big_endian_ ? place + i : place + size - 1 - i;
      number = number << 8 | std::to_integer<std::uint32_t>(bytes_[next]);
    }
    return number;
  }

 private:
  std::span<const std::byte> bytes_;
  bool is_big_endian_;
};

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Of one segment of a JPEG: its marker's second byte, and what it holds.
bool segment_may_turn(std::byte marker, std::span<const std::byte> held, bool& has_exif) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::string_view kXmp = "http://ns.adobe.com/xap/1.0/\0"sv;
  if (marker != std::byte{0xE1}) return false;
  const std::string_view what = text(held);
  if (what.starts_with(kXmp)) return what.find("Orientation") != std::string_view::npos;
  if (!what.starts_with(kExif)) return false;
  const bool is_second = has_exif;  // Pillow reads both as one
  has_exif = true;
  return is_second || exif_may_turn(held.subspan(kExif.size()));
}

/// Of one chunk of a PNG. Text is not looked into: other programs keep EXIF and XMP in it.
bool chunk_may_turn(std::string_view kind, std::span<const std::byte> held) {
  if (kind == "eXIf") return exif_may_turn(held);
  if (kind != "tEXt" && kind != "zTXt" && kind != "iTXt") return false;
  const std::string_view what = text(held);
  return what.starts_with("Raw profile type") || what.starts_with("XML:com.adobe.xmp");
}

}  // namespace

bool exif_may_turn(std::span<const std::byte> tiff) {
  if (tiff.size() < kHeadBytes || tiff[0] != tiff[1]) return true;
  const bool is_big_endian = tiff[0] == std::byte{'M'};
  if (!is_big_endian && tiff[0] != std::byte{'I'}) return true;
  const Numbers numbers(tiff, is_big_endian);
  const std::size_t directory = numbers.at(4, 4);
  if (numbers.at(2, 2) != kTiffMark || directory > tiff.size() - 2) return true;
  const std::size_t entries = numbers.at(directory, 2);
  if (entries * kEntryBytes > tiff.size() - directory - 2) return true;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (numbers.at(entry, 2) != kOrientationTag) continue;
    const bool is_number = numbers.at(entry + 2, 2) == kShort && numbers.at(entry + 4, 4) == 1;
    if (!is_number || numbers.at(entry + 8, 2) != kUpright) return true;
  }
  return false;
}

bool jpeg_may_turn(std::span<const std::byte> file) {
  const Numbers numbers(file, true);
  bool has_exif = false;
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == std::byte{0xFF}) {
    const std::byte marker = file[at + 1];
    if (marker == std::byte{0xDA}) return false;  // the pixels begin
    if (marker == std::byte{0xFF}) {              // filling
      ++at;
      continue;
    }
    const std::size_t size = numbers.at(at + 2, 2);
    if (size < 2 || size > file.size() - at - 2) return true;
    if (segment_may_turn(marker, file.subspan(at + 4, size - 2), has_exif)) return true;
    at += 2 + size;
  }
  return true;
}

bool png_may_turn(std::span<const std::byte> file) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kAround = 12;  // a chunk's length, kind and checksum
  const Numbers numbers(file, true);
  std::size_t at = kSignature;
  while (file.size() >= kAround && at <= file.size() - kAround) {
    const std::size_t size = numbers.at(at, 4);
    if (size > file.size() - kAround - at) return true;
    const std::string_view kind = text(file.subspan(at + 4, 4));
    if (kind == "IEND") return false;
    if (chunk_may_turn(kind, file.subspan(at + 8, size))) return true;
    at += kAround + size;
  }
  return true;
}

bool webp_may_turn(std::span<const std::byte> file) {
  constexpr std::size_t kKind = 12;
  constexpr std::size_t kFlags = 20;
  constexpr std::byte kExifOrXmp{0x08 | 0x04};
  if (file.size() <= kFlags) return true;
  const bool is_extended = text(file.subspan(kKind, 4)) == "VP8X";
  return is_extended && (file[kFlags] & kExifOrXmp) != std::byte{};
}

}  // namespace unstarve::feed
