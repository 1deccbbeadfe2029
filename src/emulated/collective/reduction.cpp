#include "emulated/collective/reduction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "emulated/collective/small_float.h"

namespace unstarve::emulated {
namespace {

template <class Number>
Number read(const std::byte* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// How elements of one type lie in memory and what is calculated in.
template <class Number, class Wide>
struct Plain {
  using Sum = Wide;
  static constexpr std::size_t kBytes = sizeof(Number);
  static Sum load(const std::byte* at) { return static_cast<Sum>(read<Number>(at)); }
  static void store(Sum sum, std::byte* at) {
    const auto number = static_cast<Number>(sum);
    std::memcpy(at, &number, sizeof number);
  }
};

template <class Bits, const SmallFloat& kFormat>
struct Small {
  using Sum = double;
  static constexpr std::size_t kBytes = sizeof(Bits);
  static Sum load(const std::byte* at) { return decode(kFormat, read<Bits>(at)); }
  static void store(Sum sum, std::byte* at) {
    const auto bits = static_cast<Bits>(encode(kFormat, sum));
    std::memcpy(at, &bits, sizeof bits);
  }
};

/// Unsigned arithmetic wraps without being undefined; max and min need the sign.
template <class Sum>
Sum combine(Reduction how, Sum a, Sum b) {
  using Wrapping = typename std::conditional_t<std::is_integral_v<Sum>, std::make_unsigned<Sum>,
                                               std::type_identity<Sum>>::type;
  switch (how) {
    case Reduction::kProduct:
      return static_cast<Sum>(static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
    case Reduction::kMax: return std::max(a, b);
    case Reduction::kMin: return std::min(a, b);
    case Reduction::kSum:
    case Reduction::kAverage:
    case Reduction::kScaledSum:
      return static_cast<Sum>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  }
  return a;
}

template <class Sum>
Sum scaled(Sum value, double factor) {
  if constexpr (std::is_integral_v<Sum>) {
    using Wrapping = std::make_unsigned_t<Sum>;
    if (!(std::abs(factor) < 9e18)) return 0;
    const auto whole = static_cast<Wrapping>(static_cast<std::int64_t>(factor));
    return static_cast<Sum>(static_cast<Wrapping>(value) * whole);
  } else {
    return value * factor;
  }
}

template <class Type>
void reduce_as(Reduction how, std::span<const Contribution> all, std::vector<std::byte>& result) {
  using Sum = typename Type::Sum;
  for (std::size_t at = 0; at + Type::kBytes <= result.size(); at += Type::kBytes) {
    Sum sum{};
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Contribution& contribution = all[rank];
      const bool known = at + Type::kBytes <= contribution.bytes.size();
      Sum value = known ? Type::load(contribution.bytes.data() + at) : Sum{};
      if (how == Reduction::kScaledSum) value = scaled(value, contribution.factor);
      sum = rank == 0 ? value : combine(how, sum, value);
    }
    if (how == Reduction::kAverage) sum = static_cast<Sum>(sum / static_cast<Sum>(all.size()));
    Type::store(sum, result.data() + at);
  }
}

/// Calls `act` with the arithmetic of `type`.
template <class Act>
void with_type(Element type, Act act) {
  switch (type) {
    case Element::kI8: return act(Plain<std::int8_t, std::int64_t>{});
    case Element::kU8: return act(Plain<std::uint8_t, std::uint64_t>{});
    case Element::kI32: return act(Plain<std::int32_t, std::int64_t>{});
    case Element::kU32: return act(Plain<std::uint32_t, std::uint64_t>{});
    case Element::kI64: return act(Plain<std::int64_t, std::int64_t>{});
    case Element::kU64: return act(Plain<std::uint64_t, std::uint64_t>{});
    case Element::kF16: return act(Small<std::uint16_t, kFloat16>{});
    case Element::kF32: return act(Plain<float, double>{});
    case Element::kF64: return act(Plain<double, double>{});
    case Element::kBf16: return act(Small<std::uint16_t, kBfloat16>{});
    case Element::kF8E4M3: return act(Small<std::uint8_t, kFloat8E4M3>{});
    case Element::kF8E5M2: return act(Small<std::uint8_t, kFloat8E5M2>{});
  }
}

}  // namespace

std::size_t bytes_of(Element type) {
  std::size_t bytes = 1;
  with_type(type, [&](auto as) { bytes = decltype(as)::kBytes; });
  return bytes;
}

std::vector<std::byte> reduce(Reduction how, Element type,
                              std::span<const Contribution> contributions, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  if (contributions.empty()) return result;
  with_type(type, [&](auto as) { reduce_as<decltype(as)>(how, contributions, result); });
  return result;
}

double to_double(Element type, const std::byte* number) {
  double value = 0;
  with_type(type, [&](auto as) { value = static_cast<double>(decltype(as)::load(number)); });
  return value;
}

}  // namespace unstarve::emulated
