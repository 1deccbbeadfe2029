#include "kernels/pixels/normalise.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

class Normalise : public test::EveryTarget {};

TEST_P(Normalise, IsThePlainOneToTheBitAlsoInPlace) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(-1, 2);
  for (const bool planar : {false, true}) {
    const Normalisation normalisation = {
        .mean = {0.485F, 0.456F, 0.406F}, .deviation = {0.229F, 0.224F, 0.225F}, .planar = planar};
    for (const std::size_t count : {0U, 1U, 5U, 16U, 33U, 500U}) {
      std::vector<float> given(3 * count);
      for (float& value : given) value = values(random);
      std::vector<float> expected(given.size());
      std::vector<float> made(given.size());
      normalise_plain(normalisation, given.data(), count, expected.data());
      normalise(normalisation, given.data(), count, made.data());
      EXPECT_EQ(made, expected) << count << " pixels, planar " << planar;
      normalise(normalisation, given.data(), count, given.data());
      EXPECT_EQ(given, expected) << count << " pixels, planar " << planar;
    }
  }
}

TEST_P(Normalise, OfBytesIsThePlainOneToTheBit) {
  std::mt19937 random(4);
  const ByteNormalisation normalisation = {.mean = {123.675F, 116.28F, 103.53F},
                                           .factor = {0.0171F, 0.0175F, 0.0174F}};
  for (const std::size_t count : {0U, 1U, 5U, 16U, 33U, 500U}) {
    std::vector<std::uint8_t> given(3 * count);
    for (std::uint8_t& byte : given) byte = static_cast<std::uint8_t>(random());
    std::vector<float> expected(given.size());
    std::vector<float> made(given.size());
    normalise_bytes_plain(normalisation, given.data(), count, expected.data());
    normalise_bytes(normalisation, given.data(), count, made.data());
    EXPECT_EQ(made, expected) << count << " pixels";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Normalise, testing::ValuesIn(test::every_target()),
                         test::target_name);

}  // namespace
}  // namespace unstarve::kernels
