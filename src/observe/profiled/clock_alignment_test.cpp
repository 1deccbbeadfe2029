#include "observe/profiled/clock_alignment.h"

#include <gtest/gtest.h>

#include <limits>

namespace unstarve::observe {
namespace {

TEST(ClockAlignment, TheOffsetIsWhatEveryBracketAllows) {
  // Offsets 990 to 1010, and 1005 to 1025.
  const auto offset = align_clocks({{1990, 2010, 1000}, {3005, 3025, 2000}});
  ASSERT_TRUE(offset);
  EXPECT_GE(offset->offset_ns, 1005);
  EXPECT_LE(offset->offset_ns, 1010);
  EXPECT_LE(offset->error_ns, 4);
}

TEST(ClockAlignment, ClocksThatDriftApartSaySoInTheError) {
  const auto offset = align_clocks({{1990, 2010, 1000}, {3090, 3110, 2000}});
  ASSERT_TRUE(offset);
  EXPECT_NEAR(static_cast<double>(offset->offset_ns), 1050, 1);
  EXPECT_GE(offset->error_ns, 60);
}

TEST(ClockAlignment, NothingOrNonsenseIsAnError) {
  EXPECT_FALSE(align_clocks({}));
  EXPECT_FALSE(align_clocks({{10, 5, 0}}));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(align_clocks({{-kMost, kMost, 0}}));
  EXPECT_FALSE(align_clocks({{0, 1, kMost}}));
}

}  // namespace
}  // namespace unstarve::observe
