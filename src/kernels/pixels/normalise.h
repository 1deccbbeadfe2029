#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

/// (value - mean) / deviation of three channels, both steps rounded to float32 as torch does.
struct Normalisation {
  std::array<float, 3> mean = {};
  std::array<float, 3> deviation = {1, 1, 1};
  bool planar = false;  // all of the first channel, then the others, instead of pixel by pixel
};

/// Of `count` pixels, 3 * `count` values. `out` may be `values`.
void normalise(const Normalisation& normalisation, const float* values, std::size_t count,
               float* out);

/// The same, plainly: the reference for the SIMD code.
void normalise_plain(const Normalisation& normalisation, const float* values, std::size_t count,
                     float* out);

/// (byte - mean) * factor of three channels, pixel by pixel, both steps rounded to float32 as
/// albumentations does.
struct ByteNormalisation {
  std::array<float, 3> mean = {};
  std::array<float, 3> factor = {1, 1, 1};
};

/// Of `count` pixels, 3 * `count` bytes and values.
void normalise_bytes(const ByteNormalisation& normalisation, const std::uint8_t* bytes,
                     std::size_t count, float* out);

/// The same, plainly: the reference for the SIMD code.
void normalise_bytes_plain(const ByteNormalisation& normalisation, const std::uint8_t* bytes,
                           std::size_t count, float* out);

}  // namespace unstarve::kernels
