#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The arithmetic of a collective, for the few bytes that really travel.
namespace unstarve::emulated {

/// In the order of ncclDataType_t.
enum class Element : std::uint8_t {
  kI8,
  kU8,
  kI32,
  kU32,
  kI64,
  kU64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF8E4M3,
  kF8E5M2,
};
inline constexpr int kElements = 12;

std::size_t bytes_of(Element type);

/// kScaledSum: each rank's elements are multiplied by a factor of its own first.
enum class Reduction : std::uint8_t { kSum, kProduct, kMax, kMin, kAverage, kScaledSum };

/// What one rank brings. Bytes that it does not know are zeros: `bytes` may be shorter than the
/// result.
struct Contribution {
  std::span<const std::byte> bytes;
  double factor = 1;
};

/// `bytes` bytes, element by element. Integers wrap as the hardware's do; floating point is summed
/// in double precision, in the ranks' order, and rounded once.
std::vector<std::byte> reduce(Reduction how, Element type,
                              std::span<const Contribution> contributions, std::size_t bytes);

/// One number of `type` as a factor.
double to_double(Element type, const std::byte* number);

}  // namespace unstarve::emulated
