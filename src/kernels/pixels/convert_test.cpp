#include "kernels/pixels/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/pixels/half_float.h"
#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

class ConvertKernels : public test::EveryTarget {};

TEST_P(ConvertKernels, AgreeWithThePlainOnesToTheBit) {
  std::mt19937 random(3);
  for (const std::size_t count : {1U, 3U, 16U, 31U, 64U, 100U, 257U, 5000U}) {
    std::vector<std::uint8_t> pixels(3 * count);
    for (auto& byte : pixels) byte = static_cast<std::uint8_t>(random() >> 7);
    for (const ValueType type :
         {ValueType::kUint8, ValueType::kFloat32, ValueType::kFloat16, ValueType::kBfloat16}) {
      for (const ValueScale scale :
           {ValueScale::kNone, ValueScale::kDivide, ValueScale::kMultiply}) {
        for (const int choice : {0, 1, 2, 3}) {
          const Conversion conversion{type, choice % 2 == 1, scale, choice >= 2, kMean, kDeviation};
          std::vector<std::uint32_t> expected(3 * count + 1, 0xABCDEF01);
          std::vector<std::uint32_t> actual = expected;
          convert_pixels_plain(conversion, pixels.data(), count, expected.data());
          convert_pixels(conversion, pixels.data(), count, actual.data());
          EXPECT_EQ(actual, expected) << static_cast<int>(type) << " " << count;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, ConvertKernels, testing::ValuesIn(test::every_target()),
                         test::target_name);

double value_of_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

/// By definition: no other half is nearer, and of two that are equally near it is the even one.
TEST(HalfFloat, IsTheNearest) {
  std::mt19937 random(5);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto value = std::bit_cast<float>((bits & 0x8FFFFFFF) | ((bits % 37 + 0x30) << 24));
    if (!(std::abs(value) < 65504)) continue;
    const std::uint16_t half = to_float16(value);
    const double apart = std::abs(value_of_half(half) - double{value});
    for (const int step : {-1, 1}) {
      const auto neighbour = static_cast<std::uint16_t>(half + step);
      if ((neighbour & 0x7C00) == 0x7C00 || (half & 0x7FFF) == 0) continue;
      const double other = std::abs(value_of_half(neighbour) - double{value});
      ASSERT_TRUE(apart < other || (apart == other && half % 2 == 0)) << value;
    }
  }
  EXPECT_EQ(to_float16(0.0F), 0);
  EXPECT_EQ(to_float16(-1.0F), 0xBC00);
  EXPECT_EQ(to_float16(65504.0F), 0x7BFF);
  EXPECT_EQ(to_float16(65520.0F), 0x7C00) << "half way to what would be the next";
  EXPECT_EQ(to_float16(1e30F), 0x7C00);
  EXPECT_EQ(to_float16(1e-30F), 0);
  EXPECT_EQ(to_bfloat16(1.0F), 0x3F80);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808000U)), 0x3F80) << "a half goes to even";
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
}

}  // namespace
}  // namespace unstarve::kernels
