#include "observe/import/decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::observe {
namespace {

/// "whole|thousandths", with a mark when digits after the point were not all 0.
std::string read_decimal(std::string_view text) {
  const auto number = parse_decimal(text);
  if (!number) return "nothing";
  return std::to_string(number->whole) + "|" + std::to_string(number->thousandths) +
         (number->has_fraction ? "*" : "");
}

TEST(Decimal, KeepsWhatADoubleWouldRound) {
  EXPECT_EQ(read_decimal("1712195495507783.123"), "1712195495507783|123*");
  EXPECT_EQ(read_decimal("4203669604595.407"), "4203669604595|407*");
  EXPECT_EQ(read_decimal("1712195495507783.1"), "1712195495507783|100*");
  EXPECT_EQ(read_decimal("1712195495507783456"), "1712195495507783456|0");
  EXPECT_EQ(read_decimal("1712195495507783.0"), "1712195495507783|0");
}

TEST(Decimal, RoundsWhatComesAfterThreeDigits) {
  EXPECT_EQ(read_decimal("1.2344"), "1|234*");
  EXPECT_EQ(read_decimal("1.2345"), "1|235*");
  EXPECT_EQ(read_decimal("1.9996"), "2|0*");
  EXPECT_EQ(read_decimal("0.0004"), "0|0*");
  EXPECT_EQ(read_decimal("123456789012345.678912345678"), "123456789012345|679*");
  EXPECT_EQ(read_decimal("123456789012345.678412345678"), "123456789012345|678*");
}

TEST(Decimal, TakesEveryFormOfJsonNumbers) {
  EXPECT_EQ(read_decimal("0"), "0|0");
  EXPECT_EQ(read_decimal("-1.5"), "-1|-500*");
  EXPECT_EQ(read_decimal("1.5e3"), "1500|0");
  EXPECT_EQ(read_decimal("1.712195495507783E+15"), "1712195495507783|0");
  EXPECT_EQ(read_decimal("25e-1"), "2|500*");
  EXPECT_EQ(read_decimal(" \"12.25\" "), "12|250*");
}

TEST(Decimal, RefusesWhatIsNone) {
  for (const char* text : {"", "-", ".", "\"\"", "abc", "1x", "1.2.3", "1e", "1e999", "nan", "null",
                           "99999999999999999999", "1e30", "--1", "[1]"}) {
    EXPECT_EQ(read_decimal(text), "nothing") << text;
  }
}

TEST(Decimal, ReadsIntegersHoweverTheyAreWritten) {
  EXPECT_EQ(parse_integer("7"), 7);
  EXPECT_EQ(parse_integer("7.0"), 7);
  EXPECT_EQ(parse_integer("\"25738\""), 25738);
  EXPECT_EQ(parse_integer("\"0x1f\""), 31);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("7.5"), std::nullopt);
  EXPECT_EQ(parse_integer("\"stream 7\""), std::nullopt);
  EXPECT_EQ(parse_integer("0x"), std::nullopt);
}

}  // namespace
}  // namespace unstarve::observe
