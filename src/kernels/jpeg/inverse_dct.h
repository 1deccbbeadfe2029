#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

inline constexpr int kBlockSize = 8;      // samples along each side of a block
inline constexpr int kBlockSamples = 64;  // and as many coefficients
inline constexpr int kBlocksAtOnce = 4;   // inverse_dct() rounds its count up to these

/// Blocks of one component that lie side by side in the image.
struct BlockRow {
  const std::int16_t* coefficients = nullptr;   // 64 per block, quantised, in natural order
  const std::uint16_t* quantisation = nullptr;  // 64 divisors, in natural order
  int count = 0;
};

/// Samples from quantised coefficients: 8 rows of 8 * row.count samples, `stride` bytes apart.
/// Reads coefficients, and writes samples, up to a multiple of kBlocksAtOnce blocks.
///
/// The samples are those of libjpeg-turbo's accurate integer transform ("islow") as its x86 SIMD
/// code computes it: products and sums of dequantised values wrap at 16 bits and intermediate
/// results saturate. Coefficients that an encoder made of 8-bit samples come near neither.
void inverse_dct(const BlockRow& row, std::uint8_t* out, std::ptrdiff_t stride);

/// The same in plain arithmetic, one block: the reference for the SIMD code.
void inverse_dct_plain(const std::int16_t* coefficients, const std::uint16_t* quantisation,
                       std::uint8_t* out, std::ptrdiff_t stride);

}  // namespace unstarve::kernels
