#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace unstarve::feed::test {

using TagValues = std::vector<std::uint32_t>;

/// What a TIFF's tags say; its samples are made of their places.
struct TiffOptions {
  int width = 21;
  int height = 20;
  std::uint32_t compression = 1;  // 1: none, 5: LZW, 32773: runs
  std::uint32_t photometric = 2;
  std::uint32_t samples = 3;
  std::uint32_t bits = 8;
  TagValues extra = {};
  int piece_width = 0;  // of tiles; 0: strips
  int piece_height = 7;
  bool is_big_endian = false;
  bool is_differences = false;
  std::map<std::uint16_t, TagValues> other_tags = {};  // instead of those from above
};

/// Sample `i` of the pixel at (x, y).
inline std::uint32_t made_sample(const TiffOptions& options, int x, int y, std::uint32_t i) {
  const auto place = static_cast<std::uint32_t>(7 * x + 31 * y);
  return (place + 50 * i) & ((1U << options.bits) - 1);
}

/// The colour of an index, 16 bits each part.
inline std::uint32_t made_tiff_colour(std::uint32_t index, std::uint32_t part) {
  return (index * 517 + part * 10007) & 0xFFFF;
}

namespace tiff {

using Bytes = std::vector<std::uint8_t>;

inline Bytes row_of(const TiffOptions& options, int first, int width, int y) {
  Bytes row;
  std::uint32_t held = 0;
  std::uint32_t count = 0;
  for (int x = first; x < first + width; ++x) {
    for (std::uint32_t i = 0; i < options.samples; ++i) {
      std::uint32_t sample = made_sample(options, x, y, i);
      if (options.is_differences && x > first) sample -= made_sample(options, x - 1, y, i);
      held = held << options.bits | (sample & ((1U << options.bits) - 1));
      for (count += options.bits; count >= 8; count -= 8) {
        row.push_back(static_cast<std::uint8_t>(held >> (count - 8)));
      }
    }
  }
  if (count > 0) row.push_back(static_cast<std::uint8_t>(held << (8 - count)));
  return row;
}

/// Every value by its own code, after one that clears.
inline Bytes packed_by_lzw(const Bytes& bytes) {
  Bytes packed;
  std::uint32_t held = 0;
  int count = 0;
  const auto put = [&](std::uint32_t code) {
    held = held << 9 | code;
    for (count += 9; count >= 8; count -= 8) {
      packed.push_back(static_cast<std::uint8_t>(held >> (count - 8)));
    }
  };
  for (const std::uint8_t byte : bytes) {
    put(256);
    put(byte);
  }
  put(257);
  packed.push_back(static_cast<std::uint8_t>(held << (8 - count)));
  return packed;
}

inline Bytes packed_as_runs(const Bytes& bytes) {
  Bytes packed = {128};  // stands for nothing
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t count = 1;
    while (count < 128 && at + count < bytes.size() && bytes[at + count] == bytes[at]) ++count;
    packed.push_back(static_cast<std::uint8_t>(1 - static_cast<int>(count)));
    packed.push_back(bytes[at]);
    at += count;
  }
  return packed;
}

}  // namespace tiff

inline std::vector<std::byte> made_tiff(const TiffOptions& options) {
  std::vector<std::byte> file;
  const auto put = [&](std::uint32_t number, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (options.is_big_endian ? size - 1 - i : i);
      file.push_back(static_cast<std::byte>(number >> shift));
    }
  };
  const bool is_tiled = options.piece_width > 0;
  const int piece_width = is_tiled ? options.piece_width : options.width;
  TagValues offsets;
  TagValues counts;
  for (const char letter : std::string(options.is_big_endian ? "MM" : "II")) {
    file.push_back(static_cast<std::byte>(letter));
  }
  put(42, 2);
  put(0, 4);  // the place of the tags, once it is known
  for (int top = 0; top < options.height; top += options.piece_height) {
    for (int left = 0; left < options.width; left += piece_width) {
      const int end = is_tiled ? top + options.piece_height
                               : std::min(options.height, top + options.piece_height);
      tiff::Bytes bytes;
      for (int y = top; y < end; ++y) {
        const tiff::Bytes row = tiff::row_of(options, left, piece_width, y);
        bytes.insert(bytes.end(), row.begin(), row.end());
      }
      if (options.compression == 5) bytes = tiff::packed_by_lzw(bytes);
      if (options.compression == 32773) bytes = tiff::packed_as_runs(bytes);
      offsets.push_back(static_cast<std::uint32_t>(file.size()));
      counts.push_back(static_cast<std::uint32_t>(bytes.size()));
      for (const std::uint8_t byte : bytes) put(byte, 1);
    }
  }
  const auto number = [](int value) { return TagValues{static_cast<std::uint32_t>(value)}; };
  std::map<std::uint16_t, TagValues> tags = options.other_tags;
  tags.insert({256, number(options.width)});
  tags.insert({257, number(options.height)});
  tags.insert({258, TagValues(options.samples, options.bits)});
  tags.insert({259, {options.compression}});
  tags.insert({262, {options.photometric}});
  tags.insert({277, {options.samples}});
  tags.insert({317, {options.is_differences ? 2U : 1U}});
  if (!options.extra.empty()) tags.insert({338, options.extra});
  tags.insert({is_tiled ? 324 : 273, offsets});
  tags.insert({is_tiled ? 325 : 279, counts});
  if (is_tiled) tags.insert({322, number(options.piece_width)});
  tags.insert({is_tiled ? 323 : 278, number(options.piece_height)});
  if (options.photometric == 3) {
    TagValues colours;
    for (std::uint32_t part = 0; part < 3; ++part) {
      for (std::uint32_t i = 0; i < 1U << options.bits; ++i) {
        colours.push_back(made_tiff_colour(i, part));
      }
    }
    tags.insert({320, colours});
  }
  std::map<std::uint16_t, std::uint32_t> places;
  for (const auto& [tag, values] : tags) {
    places[tag] = static_cast<std::uint32_t>(file.size());
    if (values.size() > 1) {
      for (const std::uint32_t value : values) put(value, 4);
    }
  }
  const auto tags_at = static_cast<std::uint32_t>(file.size());
  put(static_cast<std::uint32_t>(tags.size()), 2);
  for (const auto& [tag, values] : tags) {
    put(tag, 2);
    put(4, 2);  // whole numbers of 32 bits
    put(static_cast<std::uint32_t>(values.size()), 4);
    put(values.size() == 1 ? values.front() : places[tag], 4);
  }
  put(0, 4);
  for (int i = 0; i < 4; ++i) {
    const int shift = 8 * (options.is_big_endian ? 3 - i : i);
    file[static_cast<std::size_t>(4 + i)] = static_cast<std::byte>(tags_at >> shift);
  }
  return file;
}

}  // namespace unstarve::feed::test
