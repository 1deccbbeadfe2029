#include "emulated/collective/reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "emulated/collective/small_float.h"

namespace unstarve::emulated {
namespace {

template <class Number>
std::vector<std::byte> bytes_of(std::vector<Number> numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <class Number>
std::vector<Number> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

template <class Number>
std::vector<Number> reduced(Reduction how, Element type, const std::vector<Number>& a,
                            const std::vector<Number>& b) {
  const std::vector<std::byte> first = bytes_of(a);
  const std::vector<std::byte> second = bytes_of(b);
  const std::vector<Contribution> both = {{.bytes = first, .factor = 2},
                                          {.bytes = second, .factor = 3}};
  return numbers_of<Number>(reduce(how, type, both, first.size()));
}

TEST(Reduction, EachKindOnIntegers) {
  using Numbers = std::vector<std::int32_t>;
  const Numbers a = {-4, 7};
  const Numbers b = {3, 10};
  EXPECT_EQ(reduced(Reduction::kSum, Element::kI32, a, b), (Numbers{-1, 17}));
  EXPECT_EQ(reduced(Reduction::kProduct, Element::kI32, a, b), (Numbers{-12, 70}));
  EXPECT_EQ(reduced(Reduction::kMax, Element::kI32, a, b), (Numbers{3, 10}));
  EXPECT_EQ(reduced(Reduction::kMin, Element::kI32, a, b), (Numbers{-4, 7}));
  EXPECT_EQ(reduced(Reduction::kAverage, Element::kI32, a, b), (Numbers{0, 8}));
  EXPECT_EQ(reduced(Reduction::kScaledSum, Element::kI32, a, b), (Numbers{1, 44}));
}

TEST(Reduction, LargeIntegersAreExactAndWrap) {
  using Numbers = std::vector<std::int64_t>;
  constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(reduced(Reduction::kSum, Element::kI64, Numbers{kLarge, kMost}, Numbers{2, 1}),
            (Numbers{kLarge + 2, std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(reduced(Reduction::kSum, Element::kU8, std::vector<std::uint8_t>{200},
                    std::vector<std::uint8_t>{100}),
            std::vector<std::uint8_t>{44});
}

TEST(Reduction, FloatsOfEachSize) {
  EXPECT_EQ(
      reduced(Reduction::kAverage, Element::kF32, std::vector<float>{1.5F}, std::vector<float>{4}),
      std::vector<float>{2.75F});
  EXPECT_EQ(reduced(Reduction::kScaledSum, Element::kF64, std::vector<double>{1.5},
                    std::vector<double>{4}),
            std::vector<double>{15});
  const auto half = [](double value) {
    return static_cast<std::uint16_t>(encode(kFloat16, value));
  };
  EXPECT_EQ(reduced(Reduction::kSum, Element::kF16, std::vector<std::uint16_t>{half(1.5F)},
                    std::vector<std::uint16_t>{half(-4)}),
            std::vector<std::uint16_t>{half(-2.5F)});
  const auto brain = [](double value) {
    return static_cast<std::uint16_t>(encode(kBfloat16, value));
  };
  EXPECT_EQ(reduced(Reduction::kMax, Element::kBf16, std::vector<std::uint16_t>{brain(-3)},
                    std::vector<std::uint16_t>{brain(-4)}),
            std::vector<std::uint16_t>{brain(-3)});
}

TEST(Reduction, WhatARankDoesNotKnowIsZeros) {
  const std::vector<std::byte> known = bytes_of(std::vector<float>{5, 6});
  const std::vector<Contribution> both = {{.bytes = known}, {}};
  EXPECT_EQ(numbers_of<float>(reduce(Reduction::kSum, Element::kF32, both, 3 * sizeof(float))),
            (std::vector<float>{5, 6, 0}));
}

TEST(Reduction, NobodyContributesNothing) {
  EXPECT_EQ(reduce(Reduction::kAverage, Element::kI32, {}, 4), std::vector<std::byte>(4));
}

/// Every number of a format comes back as it was.
void expect_round_trip(const SmallFloat& format, std::uint32_t count) {
  for (std::uint32_t bits = 0; bits < count; ++bits) {
    const double value = decode(format, bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(encode(format, value), bits) << bits << " is " << value;
  }
}

TEST(SmallFloat, EveryNumberComesBack) {
  expect_round_trip(kFloat16, 1U << 16);
  expect_round_trip(kBfloat16, 1U << 16);
  expect_round_trip(kFloat8E4M3, 1U << 8);
  expect_round_trip(kFloat8E5M2, 1U << 8);
}

TEST(SmallFloat, LimitsAreTheFormats) {
  EXPECT_EQ(decode(kFloat8E4M3, 0x7E), 448);
  EXPECT_TRUE(std::isnan(decode(kFloat8E4M3, 0x7F)));
  EXPECT_EQ(decode(kFloat8E5M2, 0x7B), 57344);
  EXPECT_TRUE(std::isinf(decode(kFloat8E5M2, 0x7C)));
  EXPECT_EQ(decode(kFloat16, 0x7BFF), 65504);
  EXPECT_EQ(decode(kFloat16, 1), std::ldexp(1.0, -24));
}

TEST(SmallFloat, RoundsToTheNearestHalvesToEven) {
  EXPECT_EQ(encode(kFloat16, 1), 0x3C00U);
  EXPECT_EQ(encode(kFloat16, 1 + 1.0 / 2048), 0x3C00U);
  EXPECT_EQ(encode(kFloat16, 1 + 3.0 / 2048), 0x3C02U);
  EXPECT_EQ(encode(kFloat16, -0.1), 0xAE66U);
  EXPECT_EQ(encode(kFloat16, 65519), 0x7BFFU);
  EXPECT_EQ(encode(kFloat16, 65520), 0x7C00U);
  EXPECT_EQ(encode(kFloat16, std::ldexp(1.0, -25)), 0U);
  EXPECT_EQ(encode(kFloat16, std::ldexp(1.5, -25)), 1U);
  EXPECT_EQ(encode(kBfloat16, 3.1415927), 0x4049U);
  EXPECT_EQ(encode(kFloat16, 1e300), 0x7C00U);
}

}  // namespace
}  // namespace unstarve::emulated
