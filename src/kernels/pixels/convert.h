#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

enum class ValueType { kUint8, kFloat32, kFloat16, kBfloat16 };
enum class ValueScale {
  kNone,
  kDivide,    // value / 255
  kMultiply,  // value * (1 / 255), both in float32
};

/// What becomes of 8-bit RGB: (scaled - mean) / deviation, each step rounded to float32 as torch
/// does, then rounded once to `type`. kUint8 takes the bytes as they are.
struct Conversion {
  ValueType type = ValueType::kFloat32;
  bool planar = false;  // all of red, then green, then blue, instead of pixel by pixel
  ValueScale scale = ValueScale::kNone;
  bool normalise = false;
  std::array<float, 3> mean = {};
  std::array<float, 3> deviation = {1, 1, 1};
};

/// Writes 3 * `count` values of `count` interleaved RGB pixels; `out` is aligned to its type.
void convert_pixels(const Conversion& conversion, const std::uint8_t* pixels, std::size_t count,
                    void* out);

/// The same, plainly: the reference for the SIMD and CUDA code.
void convert_pixels_plain(const Conversion& conversion, const std::uint8_t* pixels,
                          std::size_t count, void* out);

/// One value as convert_pixels_plain() makes it, before it is rounded to the type.
float converted_value(const Conversion& conversion, int channel, std::uint8_t value);

}  // namespace unstarve::kernels
