#include "launch/emulation/emulation_use.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace unstarve::launch {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// What a job that does this every second has counted, and when a warning came.
int warned_after_s(const EmulationUse& every_second, int seconds) {
  LoopWatch watch;
  EmulationUse use;
  for (int second = 0; second < seconds; ++second) {
    if (watch.notices(use, (second + 1) * kSecond) != Loop::kNone) return second;
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
  EXPECT_EQ(watch.notices({}, kSecond), Loop::kNone);
  EXPECT_EQ(watch.notices({.kernels = 1'000'000, .copies = 10'000}, 15 * kSecond), Loop::kNone);
  const EmulationUse looped{.kernels = 1'050'000, .copies = 60'000, .small_reads = 50'000};
  EXPECT_EQ(watch.notices(looped, 20 * kSecond), Loop::kNone) << "for five seconds only";
  EXPECT_EQ(watch.notices(looped, 26 * kSecond), Loop::kOnlyReads);
  EXPECT_EQ(watch.notices(looped, 60 * kSecond), Loop::kNone) << "it was said";
}

/// As a generate() whose tokens take 800 kernels, and make no step of an optimizer.
EmulationUse tokens(std::int64_t seconds) {
  const auto count = static_cast<std::uint64_t>(20 * seconds);
  return {.kernels = 800 * count, .copies = count, .small_reads = count};
}

TEST(LoopWatch, AJobThatGetsNowhereIsNoticedAfterAMinute) {
  LoopWatch watch;
  for (std::int64_t second = 0; second < 90; ++second) {
    const std::int64_t steps = std::min<std::int64_t>(second, 10);  // then it generates
    const Loop found = watch.notices(tokens(second), second * kSecond, steps);
    EXPECT_EQ(found, second == 70 ? Loop::kNoProgress : Loop::kNone) << second;
  }
}

TEST(LoopWatch, NobodyKnowsWithoutStepsWhetherItGetsAnywhere) {
  LoopWatch watch;
  for (std::int64_t second = 0; second < 90; ++second) {
    EXPECT_EQ(watch.notices(tokens(second), second * kSecond), Loop::kNone) << second;
  }
}

TEST(LoopWatch, AJobThatOnlyComputesIsLeftAlone) {
  LoopWatch watch;
  for (std::int64_t second = 0; second < 90; ++second) {
    EmulationUse use = tokens(second);
    use.small_reads = 0;
    EXPECT_EQ(watch.notices(use, second * kSecond, 0), Loop::kNone) << second;
  }
}

}  // namespace
}  // namespace unstarve::launch
