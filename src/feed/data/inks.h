#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::feed {

/// The red, green and blue that cyan, magenta and yellow leave of `light`, which is 255 without
/// black. The arithmetic is Pillow's, to the bit.
inline std::array<std::uint8_t, 3> rgb_of_inks(const std::array<int, 3>& inks, int light) {
  std::array<std::uint8_t, 3> rgb = {};
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    const int product = inks[i] * light + 128;
    const int taken = ((product >> 8) + product) >> 8;  // the product / 255, rounded
    rgb[i] = static_cast<std::uint8_t>(std::clamp(light - taken, 0, 255));
  }
  return rgb;
}

}  // namespace unstarve::feed
