#include "kernels/noise/normal_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

class NormalNoiseOnEach : public test::EveryTarget {};

TEST_P(NormalNoiseOnEach, IsThePlainOneButForLastBits) {
  for (const NoiseKey& key : {NoiseKey{}, NoiseKey{0x123456789abcdefULL, {7, 8, 9, 1U << 30}},
                              NoiseKey{5, {0, 0, 0, 0xFFFFFFF0U}}}) {
    std::array<float, kNoiseStretch> expected;
    std::array<float, kNoiseStretch> made;
    make_normal_plain(key, expected);
    make_normal(key, made);
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], expected[i], 2e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NormalNoiseOnEach, testing::ValuesIn(test::every_target()),
                         test::target_name);

TEST(NormalNoise, NumbersAreDistributedNormally) {
  std::vector<float> values(100'000, 0.0F);
  add_noise({0, 1, false}, {3, {1, 2, 3, 4}}, values.data(), values.size());
  std::sort(values.begin(), values.end());
  double apart = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = 0.5 * std::erfc(-double{values[i]} / std::sqrt(2.0));
    const double rank = static_cast<double>(i) / static_cast<double>(values.size());
    apart = std::max(apart, std::abs(share - rank));
  }
  // Kolmogorov's test, p = 0.01.
  EXPECT_LT(apart, 1.63 / std::sqrt(static_cast<double>(values.size())));
}

TEST(NormalNoise, NumbersGoOnFromStretchToStretch) {
  std::vector<float> whole(3 * kNoiseStretch, 0.0F);
  const NoiseKey key{3, {1, 2, 3, 4}};
  add_noise({0, 1, false}, key, whole.data(), whole.size());
  std::vector<float> begun(kNoiseStretch + 5, 0.0F);
  add_noise({0, 1, false}, key, begun.data(), begun.size());
  EXPECT_TRUE(std::equal(begun.begin(), begun.end(), whole.begin()));
  std::sort(whole.begin(), whole.end());
  EXPECT_LT(std::unique(whole.begin(), whole.end()) - whole.begin(), 3 * kNoiseStretch + 1);
  EXPECT_GT(std::unique(whole.begin(), whole.end()) - whole.begin(), 3 * kNoiseStretch - 5);
}

TEST(NormalNoise, MeanDeviationAndClipping) {
  const NoiseKey key{3, {1, 2, 3, 4}};
  std::array<float, kNoiseStretch> numbers;
  make_normal(key, numbers);
  std::vector<float> values(100, 0.25F);
  add_noise({0.5F, 0.3F, true}, key, values.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float noise = 0.5F + numbers[i] * 0.3F;
    EXPECT_EQ(values[i], std::clamp(0.25F + noise, 0.0F, 1.0F));
  }
}

}  // namespace
}  // namespace unstarve::kernels
