#include "launch/emulation/emulation_use.h"

#include <gtest/gtest.h>

namespace unstarve::launch {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// What a job that does this every second has counted, and when a warning came.
int warned_after_s(const EmulationUse& every_second, int seconds) {
  LoopWatch watch;
  EmulationUse use;
  for (int second = 0; second < seconds; ++second) {
    if (watch.notices(use, (second + 1) * kSecond)) return second;
    use.small_reads += every_second.small_reads;
    use.kernels += every_second.kernels;
    use.copies += every_second.copies;
  }
  return -1;
}

TEST(LoopWatch, AJobThatOnlyReadsValuesIsNoticedAfterTenSeconds) {
  EXPECT_EQ(warned_after_s({.kernels = 9'000, .copies = 3'000, .small_reads = 3'000}, 60), 10);
}

TEST(LoopWatch, TrainingThatReadsItsLossIsNot) {
  EXPECT_EQ(warned_after_s({.kernels = 60'000, .copies = 900, .small_reads = 300}, 60), -1);
  EXPECT_EQ(warned_after_s({.kernels = 3'000, .copies = 900, .small_reads = 300}, 60), -1)
      << "a small model gets its batches from somewhere";
  EXPECT_EQ(warned_after_s({}, 60), -1);
}

TEST(LoopWatch, ALoopThatComesLateIsNoticedToo) {
  LoopWatch watch;
  EXPECT_FALSE(watch.notices({}, kSecond));
  EXPECT_FALSE(watch.notices({.kernels = 1'000'000, .copies = 10'000}, 15 * kSecond));
  const EmulationUse looped{.kernels = 1'050'000, .copies = 60'000, .small_reads = 50'000};
  EXPECT_FALSE(watch.notices(looped, 20 * kSecond)) << "for five seconds only";
  EXPECT_TRUE(watch.notices(looped, 26 * kSecond));
  EXPECT_FALSE(watch.notices(looped, 60 * kSecond)) << "it was said";
}

}  // namespace
}  // namespace unstarve::launch
