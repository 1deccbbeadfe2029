#pragma once

#include <cstdint>

namespace unstarve::kernels {

/// How far the functions below read past the end of a plane's row.
inline constexpr int kColourReadSlack = 64;
/// How far they write past the end of the RGB row.
inline constexpr int kColourWriteSlack = 3 * 64;

/// One row of each of three components.
struct PlaneRows {
  const std::uint8_t* first = nullptr;   // Y, or red
  const std::uint8_t* second = nullptr;  // Cb, or green
  const std::uint8_t* third = nullptr;   // Cr, or blue
};

/// `count` pixels of YCbCr -> RGB, interleaved, with libjpeg's fixed-point arithmetic (jdcolor.c).
void ycc_to_rgb(const PlaneRows& rows, int count, std::uint8_t* out);
/// Interleaves planes that are RGB already.
void planes_to_rgb(const PlaneRows& rows, int count, std::uint8_t* out);

/// The same in plain arithmetic, without slack: the references for the SIMD code.
void ycc_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out);
void planes_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out);

}  // namespace unstarve::kernels
