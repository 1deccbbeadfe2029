#include "trace/text/packed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::trace {
namespace {

TEST(PackedText, ComesBackWhateverItsLength) {
  for (std::size_t length = 0; length < 70; ++length) {
    const std::string text(length, static_cast<char>('a' + length % 26));
    const auto packed = pack_text(text);
    ASSERT_TRUE(packed);
    const auto again = unpack_text(*packed, 100);
    ASSERT_TRUE(again) << length;
    EXPECT_EQ(*again, text);
  }
}

TEST(PackedText, IsNoLongerThanAllowed) {
  const std::string text(100'000, 'x');
  const std::string packed = pack_text(text).value_or("");
  EXPECT_LT(packed.size(), 1000U);
  EXPECT_EQ(unpack_text(packed, 100'000).value_or(""), text);
  EXPECT_FALSE(unpack_text(packed, 99'999));
}

TEST(PackedText, DamageIsTold) {
  const std::string packed = pack_text("a text of some length").value_or("");
  EXPECT_FALSE(unpack_text(packed.substr(0, packed.size() / 2), 1000));
  EXPECT_FALSE(unpack_text("", 1000));
  EXPECT_FALSE(unpack_text("no base64", 1000));
  EXPECT_FALSE(unpack_text("AAAA", 1000));  // no gzip
}

}  // namespace
}  // namespace unstarve::trace
