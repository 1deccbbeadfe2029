#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

/// Beyond the end of a row, `unfilter` may read as many bytes.
inline constexpr std::size_t kUnfilterPadding = 8;

/// How the bytes of a row of a PNG are told by those to the left and above.
/// Source: https://www.w3.org/TR/png-3/#9Filter-types
enum class RowFilter : std::uint8_t { kNone = 0, kSub = 1, kUp = 2, kAverage = 3, kPaeth = 4 };

/// Undoes the filter of a row in place. `above`: the row above, of which the same was done; zeros
/// for the first one. `bytes` of both are read, a multiple of `step`: those of a pixel, 1 to 8.
void unfilter(RowFilter filter, std::uint8_t* row, const std::uint8_t* above, std::size_t bytes,
              std::size_t step);

/// The same, plainly: the reference for the SIMD code.
void unfilter_plain(RowFilter filter, std::uint8_t* row, const std::uint8_t* above,
                    std::size_t bytes, std::size_t step);

}  // namespace unstarve::kernels
