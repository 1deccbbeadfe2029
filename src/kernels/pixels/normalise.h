#pragma once

#include <array>
#include <cstddef>

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

}  // namespace unstarve::kernels
