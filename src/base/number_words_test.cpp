#include "base/number_words.h"

#include <gtest/gtest.h>

#include <limits>

namespace unstarve {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberWords, NumbersHaveThreeDigitsThatTell) {
  EXPECT_EQ(number_text(0), "0.00");
  EXPECT_EQ(number_text(4.123), "4.12");
  EXPECT_EQ(number_text(9.996), "10.0");
  EXPECT_EQ(number_text(41.23), "41.2");
  EXPECT_EQ(number_text(412.3), "412");
  EXPECT_EQ(number_text(41'234), "41234");
  EXPECT_EQ(number_text(-4.123), "-4.12");
  EXPECT_EQ(number_text(kInfinity), "unknown");
}

TEST(NumberWords, SmallSharesStayTelling) {
  EXPECT_EQ(percent_text(0.712), "71 %");
  EXPECT_EQ(percent_text(0.0994), "9.9 %");
  EXPECT_EQ(percent_text(0.0996), "10 %");
  EXPECT_EQ(percent_text(0.004), "0.4 %");
  EXPECT_EQ(percent_cell(0.712), "71.2 %");
  EXPECT_EQ(percent_text(kInfinity), "unknown");
  EXPECT_EQ(percent_cell(-kInfinity), "unknown");
}

TEST(NumberWords, DurationsAreTheSameInWhateverUnitTheyCome) {
  EXPECT_EQ(duration_text(412.3e6), "412 ms");
  EXPECT_EQ(microseconds_text(412.3e3), "412 ms");
  EXPECT_EQ(seconds_text(0.4123), "412 ms");
}

TEST(NumberWords, DurationsTakeTheUnitThatTheyReach) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(850), "850 ns");
  EXPECT_EQ(duration_text(999.7), "1.00 us");
  EXPECT_EQ(duration_text(12'345), "12.3 us");
  EXPECT_EQ(duration_text(1.75e9), "1.75 s");
  EXPECT_EQ(seconds_text(59.9), "59.9 s");
  EXPECT_EQ(seconds_text(75), "1 min 15 s");
  EXPECT_EQ(seconds_text(7500), "2 h 5 min");
  EXPECT_EQ(seconds_text(1e30), "1e+30 s");
  EXPECT_EQ(duration_text(-12'345), "-12.3 us");
  EXPECT_EQ(seconds_text(kInfinity), "unknown");
}

TEST(NumberWords, BytesCountInPowersOfTen) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(999.6), "1.00 kB");
  EXPECT_EQ(bytes_text(19.34e6), "19.3 MB");
  EXPECT_EQ(bytes_text(1.5e9), "1.50 GB");
  EXPECT_EQ(bytes_text(2e15), "2000 TB");
  EXPECT_EQ(bytes_text(kInfinity), "unknown");
}

TEST(NumberWords, AFactorHasItsSign) { EXPECT_EQ(factor_text(12.34), "12.3x"); }

}  // namespace
}  // namespace unstarve
