#include "feed/formats/colour_mode.h"

#include <cstdint>
#include <string_view>

namespace unstarve::feed {

namespace {

std::uint32_t byte_at(std::span<const std::byte> file, std::size_t place) {
  return std::to_integer<std::uint32_t>(file[place]);
}

/// A frame's header, of any kind of coding; 0xC4, 0xC8 and 0xCC mark other things.
bool is_frame(std::uint32_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

}  // namespace

bool jpeg_is_rgb(std::span<const std::byte> file) {
  constexpr std::uint32_t kPixels = 0xDA;
  constexpr std::size_t kFrameBytes = 10;  // up to the number of components
  std::size_t at = 2;
  while (at + kFrameBytes <= file.size() && byte_at(file, at) == 0xFF) {
    const std::uint32_t marker = byte_at(file, at + 1);
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    if (marker == kPixels) return false;
    if (is_frame(marker)) return byte_at(file, at + 4) == 8 && byte_at(file, at + 9) == 3;
    at += 2 + (byte_at(file, at + 2) << 8 | byte_at(file, at + 3));
  }
  return false;
}

bool png_is_rgb(std::span<const std::byte> file) {
  constexpr std::size_t kColourType = 25;  // in the header, which is the first chunk
  return file.size() > kColourType && byte_at(file, kColourType) == 2;
}

bool webp_is_rgb(std::span<const std::byte> file) {
  constexpr std::size_t kKind = 12;
  constexpr std::size_t kAlphaUsed = 24;  // of a lossless image: its last byte of sizes
  if (file.size() <= kAlphaUsed) return false;
  const std::string_view kind(reinterpret_cast<const char*>(file.data()) + kKind, 4);
  if (kind == "VP8L") return (byte_at(file, kAlphaUsed) & 0x10) == 0;
  return kind == "VP8 ";
}

}  // namespace unstarve::feed
