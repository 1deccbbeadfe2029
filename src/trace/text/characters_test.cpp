#include "trace/text/characters.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

namespace unstarve::trace {
namespace {

TEST(Characters, ATextIsCutBetweenTwo) {
  const std::string text = "a\u00e9\u20ac!";  // of 1, 2, 3 and 1 bytes
  const std::string_view whole = text;
  const std::size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 7, 7};
  for (std::size_t most = 0; most < std::size(lengths); ++most) {
    EXPECT_EQ(first_bytes(whole, most), whole.substr(0, lengths[most])) << most;
  }
  EXPECT_EQ(first_bytes("\x80\x80\x80", 2), "");
}

}  // namespace
}  // namespace unstarve::trace
