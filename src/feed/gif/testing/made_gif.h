#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "feed/data/geometry.h"

namespace unstarve::feed::test {

/// What a GIF's headers say; the indices are made of their places.
struct GifOptions {
  int width = 9;  // of the screen
  int height = 20;
  Box image = {0, 0, 9, 20};
  bool is_interlaced = false;
  int bits = 4;         // of an index
  int colour_bits = 4;  // of the number of colours
  bool has_own_palette = false;
  bool is_grey = false;  // each colour of the image's palette is its index
  int transparent = -1;  // none
};

/// The index of a pixel of the image, counted from its top left.
inline std::uint8_t made_index(int x, int y, int bits) {
  return static_cast<std::uint8_t>((x / 2 + 5 * y) & ((1 << bits) - 1));
}

/// The colour of an index in a palette that is not grey.
inline std::array<std::uint8_t, 3> made_gif_colour(int index) {
  return {static_cast<std::uint8_t>(255 - index), static_cast<std::uint8_t>(3 * index), 9};
}

/// Codes of growing width; see the GIF specification's appendix F.
class GifPacker {
 public:
  explicit GifPacker(int bits) : clear_(1 << bits), bits_(bits) { restart(); }

  std::vector<std::uint8_t> pack(const std::vector<std::uint8_t>& indices) {
    int known = -1;
    for (const std::uint8_t index : indices) {
      const auto longer = codes_.find({known, index});
      if (known >= 0 && longer != codes_.end()) {
        known = longer->second;
        continue;
      }
      if (known >= 0) {
        put(known);
        add({known, index});
      }
      known = index;
    }
    put(known);
    add({known, -1});
    put(clear_ + 1);
    packed_.push_back(static_cast<std::uint8_t>(held_));
    return packed_;
  }

 private:
  void restart() {
    codes_.clear();
    free_ = clear_ + 2;
    width_ = bits_ + 1;
    put(clear_);
  }
  void add(std::pair<int, int> string) {
    if (free_ == 4096) return;
    codes_[string] = free_;
    if (free_ == 1 << width_ && width_ < 12) ++width_;
    ++free_;
  }
  void put(int code) {
    held_ |= static_cast<std::uint32_t>(code) << count_;
    for (count_ += width_; count_ >= 8; count_ -= 8, held_ >>= 8) {
      packed_.push_back(static_cast<std::uint8_t>(held_));
    }
  }

  int clear_, bits_, free_ = 0, width_ = 0, count_ = 0;
  std::uint32_t held_ = 0;
  std::map<std::pair<int, int>, int> codes_;
  std::vector<std::uint8_t> packed_;
};

/// The rows of an image in the order in which a file has them.
inline std::vector<int> gif_rows(int height, bool is_interlaced) {
  std::vector<int> rows;
  using Pass = std::pair<int, int>;  // the first row, and the step to the next ones
  const std::vector<Pass> passes =
      is_interlaced ? std::vector<Pass>{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : std::vector<Pass>{{0, 1}};
  for (const auto& [first, step] : passes) {
    for (int y = first; y < height; y += step) rows.push_back(y);
  }
  return rows;
}

inline std::vector<std::byte> made_gif(const GifOptions& options) {
  std::vector<std::byte> file;
  const auto put = [&file](int value) { file.push_back(static_cast<std::byte>(value)); };
  const auto put_numbers = [&put](std::initializer_list<int> numbers) {
    for (const int number : numbers) {
      put(number & 255);
      put(number >> 8);
    }
  };
  const auto put_palette = [&](bool is_grey) {
    for (int i = 0; i < 1 << options.colour_bits; ++i) {
      const auto grey = static_cast<std::uint8_t>(i);
      for (const int part : is_grey ? std::array{grey, grey, grey} : made_gif_colour(i)) put(part);
    }
  };
  for (const char letter : std::string_view("GIF89a")) put(letter);
  put_numbers({options.width, options.height});
  const int palette = 0x80 | (options.colour_bits - 1);
  put(palette);
  put_numbers({0});
  put_palette(options.is_grey && !options.has_own_palette);
  for (const char part : std::string_view("!\xFE\x02hi\0", 6)) put(part);
  if (options.transparent >= 0) {
    for (const int part : {0x21, 0xF9, 4, 1, 0, 0, options.transparent, 0}) put(part);
  }
  put(',');
  put_numbers({options.image.x, options.image.y, options.image.width, options.image.height});
  put((options.has_own_palette ? palette : 0) | (options.is_interlaced ? 0x40 : 0));
  if (options.has_own_palette) put_palette(options.is_grey);
  std::vector<std::uint8_t> indices;
  for (const int y : gif_rows(options.image.height, options.is_interlaced)) {
    for (int x = 0; x < options.image.width; ++x) {
      indices.push_back(made_index(x, y, options.bits));
    }
  }
  put(options.bits);
  const auto codes = GifPacker(options.bits).pack(indices);
  for (std::size_t at = 0; at < codes.size(); at += 255) {
    const std::size_t count = std::min<std::size_t>(255, codes.size() - at);
    put(static_cast<int>(count));
    for (std::size_t i = 0; i < count; ++i) put(codes[at + i]);
  }
  put(0);
  put(';');
  return file;
}

}  // namespace unstarve::feed::test
