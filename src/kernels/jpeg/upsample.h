#pragma once

#include <cstdint>

namespace unstarve::kernels {

/// How far the functions below read or write past a row's end: they work on whole vectors.
inline constexpr int kUpsampleSlack = 64;

/// libjpeg's "fancy" upsampling: each output sample is 3/4 of the nearer input sample and 1/4 of
/// the next one, along each axis that is doubled. At the image's edges the edge sample stands for
/// the missing one. Rounding alternates as in libjpeg's jdsample.c, bit for bit.

/// One row of `count` samples -> 2 * count. row[-1] and row[count] are read: at the image's edges
/// they must repeat row[0] and row[count - 1].
void upsample_h2v1(const std::uint8_t* row, int count, std::uint8_t* out);

/// One output row from the input row it lies in and the input row next to it. Both are read from
/// -1 to count, as above.
struct RowPair {
  const std::uint8_t* nearer = nullptr;
  const std::uint8_t* farther = nullptr;
};
/// `count` samples -> 2 * count.
void upsample_h2v2(const RowPair& rows, int count, std::uint8_t* out);

/// `count` samples -> count. The upper of two output rows rounds otherwise than the lower.
enum class RowHalf { kUpper, kLower };
void upsample_h1v2(const RowPair& rows, RowHalf half, int count, std::uint8_t* out);

/// Repeats each of `count` samples `times` times: what libjpeg does for all other factors.
void replicate(const std::uint8_t* row, int count, int times, std::uint8_t* out);

/// The same in plain arithmetic: the references for the SIMD code.
void upsample_h2v1_plain(const std::uint8_t* row, int count, std::uint8_t* out);
void upsample_h2v2_plain(const RowPair& rows, int count, std::uint8_t* out);
void upsample_h1v2_plain(const RowPair& rows, RowHalf half, int count, std::uint8_t* out);

}  // namespace unstarve::kernels
