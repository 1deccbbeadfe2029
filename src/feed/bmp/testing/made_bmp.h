#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace unstarve::feed::test {

/// What a bitmap's headers say; the pixels are made of their places.
struct BmpOptions {
  std::int32_t width = 5;
  std::int32_t height = 3;  // below 0: the first row is the top one
  std::uint16_t bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t colours = 0;  // of 8 bits a pixel
  std::uint32_t header_bytes = 40;
};

/// The colour of a pixel, counted from the top left; of 8 bits a pixel that of the palette's entry.
inline std::array<std::uint8_t, 3> made_colour(int x, int y, int bits) {
  const auto index = static_cast<std::uint8_t>(7 * x + 31 * y);
  if (bits == 8) return {index, static_cast<std::uint8_t>(255 - index), 9};
  return {index, static_cast<std::uint8_t>(3 * x), static_cast<std::uint8_t>(200 - y)};
}

inline std::vector<std::byte> made_bmp(const BmpOptions& options) {
  std::vector<std::byte> file;
  const auto put = [&file](auto number) {
    const auto at = file.size();
    file.resize(at + sizeof(number));
    std::memcpy(file.data() + at, &number, sizeof(number));
  };
  const std::uint32_t colours = options.bits != 8      ? 0
                                : options.colours == 0 ? 256
                                                       : options.colours;
  const std::uint32_t pixels_at = 14 + options.header_bytes + 4 * colours;
  put(std::uint16_t{0x4D42});
  put(std::uint32_t{0});  // the size, which nobody reads
  put(std::uint32_t{0});
  put(pixels_at);
  put(options.header_bytes);
  put(options.width);
  put(options.height);
  put(std::uint16_t{1});
  put(options.bits);
  put(options.compression);
  for (int i = 0; i < 3; ++i) put(std::uint32_t{0});
  put(options.colours);
  put(std::uint32_t{0});
  file.resize(14 + options.header_bytes);
  for (std::uint32_t i = 0; i < colours; ++i) {
    for (const std::uint32_t part : {9U, 255 - i % 256, i % 256, 0U}) {
      put(static_cast<std::uint8_t>(part));
    }
  }
  const int rows = options.height < 0 ? -options.height : options.height;
  for (int stored = 0; stored < rows; ++stored) {
    const int y = options.height < 0 ? stored : rows - 1 - stored;
    const std::size_t begin = file.size();
    for (int x = 0; x < options.width; ++x) {
      const auto colour = made_colour(x, y, options.bits);
      if (options.bits == 8) {
        put(colour[0]);
        continue;
      }
      for (const int part : {2, 1, 0}) put(colour[static_cast<std::size_t>(part)]);
      if (options.bits == 32) put(std::uint8_t{77});
    }
    while ((file.size() - begin) % 4 != 0) file.push_back(std::byte{0});
  }
  return file;
}

}  // namespace unstarve::feed::test
