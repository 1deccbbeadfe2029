#include "kernels/simd_level.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace unstarve::kernels {
namespace {

TEST(SimdLevel, AnUnknownLevelIsRefused) {
  const Status status = limit_simd("mmx");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

// In a process of its own: the limit cannot be taken back.
TEST(SimdLevelDeathTest, TheLimitHolds) {
  const auto limited = [] {
    const bool lowered = limit_simd("portable") && simd_level() == "portable";
    std::exit(lowered ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace unstarve::kernels
