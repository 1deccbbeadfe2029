#pragma once

#include <cstddef>
#include <string_view>

namespace unstarve::roofline {

/// McCalpin's STREAM: what is done to arrays of doubles, and the bytes that it counts.
enum class StreamKernel { kCopy, kScale, kAdd, kTriad };
inline constexpr int kStreamKernels = 4;
inline constexpr double kStreamScalar = 3.0;

/// "copy", "scale", "add", "triad".
std::string_view to_string(StreamKernel kernel);
/// Read and written for each element: 16 or 24 bytes. What a cache fetches before it writes is not
/// counted, as STREAM does not.
double bytes_per_element(StreamKernel kernel);

/// The same stretch of STREAM's arrays. Each begins at a multiple of 64 bytes.
struct StreamArrays {
  double* a = nullptr;
  double* b = nullptr;
  double* c = nullptr;
  std::size_t count = 0;  // a multiple of 64
};

/// How results get to memory: through the caches, or past them by non-temporal stores, which spare
/// the fetch of what will be overwritten. Where a CPU has none of the latter, both are one.
/// Narrow: through the caches by vectors of at most 256 bits, with which some CPUs that have longer
/// ones add faster (AMD's Zen 4), while others do not (Intel's).
enum class Stores { kPlain, kPlainNarrow, kNonTemporal };

/// copy: c = a; scale: b = 3 c; add: c = a + b; triad: a = b + 3 c.
void run_stream_kernel(StreamKernel kernel, Stores stores, const StreamArrays& arrays);

}  // namespace unstarve::roofline
