#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "feed/png/inflate.h"

namespace unstarve::feed::test {

struct PngOptions {
  std::uint32_t width = 5;
  std::uint32_t height = 3;
  std::uint8_t depth = 8;
  std::uint8_t colour = 2;  // as in the header: RGB
  std::uint8_t interlaced = 0;
  std::vector<std::uint8_t> palette = {};  // red, green, blue, of each colour
  std::size_t pieces = 1;                  // of the stream
};

using FileBytes = std::vector<std::byte>;

inline void append_number(FileBytes& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(std::byte(number >> shift & 0xFFU));
}

/// A part of a file, with its checksum.
inline void append_chunk(FileBytes& file, std::string_view kind, std::span<const std::byte> held) {
  append_number(file, static_cast<std::uint32_t>(held.size()));
  const std::size_t begin = file.size();
  for (const char letter : kind) file.push_back(std::byte(letter));
  file.insert(file.end(), held.begin(), held.end());
  append_number(file, crc32_of(std::span(file).subspan(begin)));
}

/// A zlib stream that packs nothing.
inline FileBytes stored(std::span<const std::uint8_t> raw) {
  constexpr std::size_t kBlock = 0xFFFF;
  FileBytes stream = {std::byte{0x78}, std::byte{0x01}};
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (std::size_t at = 0; at == 0 || at < raw.size(); at += kBlock) {
    const auto block = raw.subspan(at, std::min(kBlock, raw.size() - at));
    const bool is_last = at + kBlock >= raw.size();
    stream.push_back(std::byte(is_last));
    for (const std::size_t length : {block.size(), ~block.size()}) {
      stream.push_back(std::byte(length & 0xFFU));
      stream.push_back(std::byte(length >> 8U & 0xFFU));
    }
    for (const std::uint8_t value : block) {
      stream.push_back(std::byte(value));
      low = (low + value) % 65521;
      high = (high + low) % 65521;
    }
  }
  append_number(stream, high << 16U | low);
  return stream;
}

/// `raw`: the rows, each after the number of its filter.
inline FileBytes made_png(const PngOptions& options, std::span<const std::uint8_t> raw) {
  FileBytes file;
  for (const int value : {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A}) {
    file.push_back(std::byte(value));
  }
  FileBytes header;
  append_number(header, options.width);
  append_number(header, options.height);
  for (const std::uint8_t value :
       {options.depth, options.colour, std::uint8_t{0}, std::uint8_t{0}, options.interlaced}) {
    header.push_back(std::byte(value));
  }
  append_chunk(file, "IHDR", header);
  if (!options.palette.empty()) {
    append_chunk(file, "PLTE", std::as_bytes(std::span(options.palette)));
  }
  const FileBytes stream = stored(raw);
  const std::size_t most = (stream.size() + options.pieces - 1) / options.pieces;
  for (std::size_t at = 0; at < stream.size(); at += most) {
    const auto piece = std::span(stream).subspan(at, std::min(most, stream.size() - at));
    append_chunk(file, "IDAT", piece);
  }
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace unstarve::feed::test
