#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "observe/inside/cupti/activity_ring.h"
#include "observe/inside/cupti/buffer_pool.h"
#include "observe/inside/cupti/clock_match.h"
#include "observe/inside/cupti/devices.h"
#include "observe/inside/cupti/window_plan.h"

namespace unstarve::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(WindowPlan, TakesWhatTheUserAsksFor) {
  EXPECT_EQ(read_window_plan(nullptr), WindowPlan());
  EXPECT_EQ(read_window_plan(""), WindowPlan());
  EXPECT_TRUE(read_window_plan("off").off);
  EXPECT_TRUE(read_window_plan("always").always);
  const WindowPlan plan = read_window_plan("500/2000");
  EXPECT_EQ(plan.window_ns, kSecond / 2);
  EXPECT_EQ(plan.first_ns, kSecond / 2);
  EXPECT_EQ(plan.period_ns, 2 * kSecond);
  EXPECT_EQ(describe(plan), "the first 0.5 s, then 0.5 s in each 2 s");
}

TEST(WindowPlan, WhatIsNoPlanIsSaidAndTheDefaultHolds) {
  for (const char* text : {"on", "5", "/", "5/", "/5", "0/5", "6/5", "-1/5",
                           "1/99999999999999999999", "1/2/3", "1 /2", "\xff\n", "1/3600001"}) {
    const WindowPlan plan = read_window_plan(text);
    EXPECT_THAT(plan.ignored, HasSubstr("UNSTARVE_CUPTI=")) << text;
    WindowPlan rest = plan;
    rest.ignored.clear();
    EXPECT_EQ(rest, WindowPlan()) << text;
  }
  const std::string long_text(100'000, 'x');
  EXPECT_LT(read_window_plan(long_text.c_str()).ignored.size(), 200);
}

TEST(WindowTimer, TheFirstWindowWaitsForTheFirstOperation) {
  WindowTimer timer{WindowPlan()};
  EXPECT_TRUE(timer.wants_window(1000 * kSecond));
  EXPECT_FALSE(timer.next_change_ns(1000 * kSecond));
  timer.activity_began(1000 * kSecond);
  timer.activity_began(1 * kSecond);  // the first counts
  EXPECT_TRUE(timer.wants_window(1010 * kSecond - 1));
  EXPECT_EQ(timer.next_change_ns(1001 * kSecond), 1010 * kSecond);
  EXPECT_FALSE(timer.wants_window(1010 * kSecond));
  EXPECT_EQ(timer.next_change_ns(1010 * kSecond), 1019 * kSecond);
  EXPECT_TRUE(timer.wants_window(1019 * kSecond));
  EXPECT_EQ(timer.next_change_ns(1019 * kSecond), 1020 * kSecond);
  EXPECT_FALSE(timer.wants_window(1020 * kSecond));
}

TEST(WindowTimer, TheFirstStepsAreRecordedHoweverLateTheyCome) {
  WindowTimer timer{WindowPlan()};
  timer.activity_began(1000 * kSecond);
  EXPECT_FALSE(timer.wants_window(1042 * kSecond)) << "a start-up of a minute, compilation say";
  timer.steps_began(1042 * kSecond);
  timer.steps_began(1050 * kSecond);  // the first counts
  EXPECT_TRUE(timer.wants_window(1042 * kSecond));
  EXPECT_EQ(timer.next_change_ns(1042 * kSecond), 1052 * kSecond);
  EXPECT_EQ(timer.next_change_ns(1052 * kSecond), 1061 * kSecond);
  EXPECT_EQ(timer.next_change_ns(1061 * kSecond), 1062 * kSecond);
}

TEST(WindowTimer, WindowsHoldSeveralStepsWithoutRecordingMore) {
  WindowTimer timer{WindowPlan()};
  timer.activity_began(0);
  timer.steps_began(5 * kSecond);
  timer.step_takes(kSecond / 4);
  EXPECT_EQ(timer.next_change_ns(0), 15 * kSecond);
  EXPECT_EQ(timer.next_change_ns(15 * kSecond), 24 * kSecond);
  timer.step_takes(5 * kSecond / 4);
  EXPECT_EQ(timer.next_change_ns(15 * kSecond), 51 * kSecond);
  EXPECT_EQ(timer.next_change_ns(51 * kSecond), 55 * kSecond) << "4 s in each 40";
  timer.step_takes(kSecond / 4);
  EXPECT_EQ(timer.next_change_ns(51 * kSecond), 55 * kSecond) << "they do not shrink";
  timer.step_takes(1000 * kSecond);
  EXPECT_EQ(timer.next_change_ns(0), 21 * kSecond);
  EXPECT_EQ(timer.next_change_ns(21 * kSecond), 165 * kSecond);
  EXPECT_EQ(timer.next_change_ns(165 * kSecond), 181 * kSecond) << "16 s in each 160 at most";
}

TEST(WindowTimer, AMonthHasFewWindows) {
  WindowTimer timer{WindowPlan()};
  timer.activity_began(1000 * kSecond);
  constexpr std::int64_t kMonth = 30 * 86'400 * kSecond;
  const auto windows_until = [&timer](std::int64_t age_ns) {
    int windows = 0;
    std::int64_t open_ns = 0;
    std::int64_t now = 1000 * kSecond;
    while (now < 1000 * kSecond + age_ns) {
      const std::int64_t next = *timer.next_change_ns(now);
      if (timer.wants_window(now)) {
        ++windows;
        open_ns += next - now;
      }
      EXPECT_NE(timer.wants_window(now), timer.wants_window(next));
      now = next;
    }
    EXPECT_EQ(open_ns, (windows + 9) * kSecond) << "the first 10 s, then 1 s each";
    return windows;
  };
  EXPECT_EQ(windows_until(610 * kSecond), 61);
  EXPECT_EQ(windows_until(1210 * kSecond), 61 + 30) << "every 20 s";
  EXPECT_EQ(windows_until(2410 * kSecond), 61 + 60) << "every 40 s";
  EXPECT_NEAR(windows_until(kMonth), 61 + 12 * 30, 30);
}

TEST(WindowTimer, WindowsThatWereAskedForComeEvenly) {
  WindowTimer timer{read_window_plan("1000/10000")};
  timer.activity_began(0);
  EXPECT_TRUE(timer.wants_window(100'001 * kSecond - 1));
  EXPECT_FALSE(timer.wants_window(100'001 * kSecond));
  timer.steps_began(100'002 * kSecond);
  timer.step_takes(kSecond);
  EXPECT_FALSE(timer.wants_window(100'002 * kSecond));
}

TEST(WindowTimer, AlwaysAndOffNeverChange) {
  WindowTimer always{read_window_plan("always")};
  WindowTimer whole{read_window_plan("10/10")};
  WindowTimer off{read_window_plan("off")};
  for (WindowTimer* timer : {&always, &whole, &off}) {
    timer->activity_began(kSecond);
    EXPECT_EQ(timer->wants_window(500 * kSecond), timer != &off);
    EXPECT_FALSE(timer->next_change_ns(500 * kSecond));
  }
}

void add(ClockMatch& match, std::int64_t ours, std::uint64_t theirs, std::int64_t half_ns = 10) {
  const ClockMatch::Reading readings[] = {{ours - 5000, theirs + 3000, ours + 5000},
                                          {ours - half_ns, theirs, ours + half_ns}};
  match.add(readings, 2);
}

TEST(ClockMatch, TheTightestReadingCounts) {
  ClockMatch match;
  add(match, 1'000'000, 5'000'000);
  EXPECT_EQ(match.to_ours(5'000'000), 1'000'000);
  EXPECT_EQ(match.to_ours(5'000'700), 1'000'700);
  EXPECT_EQ(match.to_ours(4'999'000), 999'000);
  EXPECT_EQ(match.to_ours(0), 0) << "not known";
  EXPECT_EQ(match.error_ns(), 11);
}

TEST(ClockMatch, ManyDaysOfUptimeLoseNoNanosecond) {
  constexpr std::int64_t kYear = 365 * 86'400 * kSecond;
  constexpr std::uint64_t kWall = 1'700'000'000'000'000'000;
  ClockMatch match;
  add(match, kYear, kWall);
  add(match, kYear + kSecond, kWall + kSecond);
  EXPECT_EQ(match.to_ours(kWall + 123'456'789), kYear + 123'456'789);
}

TEST(ClockMatch, ARateThatDriftsIsFollowedAndItsErrorSaid) {
  ClockMatch match;
  add(match, 0 + kSecond, 3 * kSecond);
  add(match, 2 * kSecond, 6 * kSecond);
  EXPECT_EQ(match.to_ours(4'500'000'000), 1'500'000'000);
  EXPECT_EQ(match.to_ours(9 * kSecond), 3 * kSecond) << "the line goes on";
  EXPECT_EQ(match.error_ns(), 11);
  add(match, 3 * kSecond, 9 * kSecond + 3'000'000);  // a thousandth too much
  EXPECT_NEAR(static_cast<double>(match.error_ns()), 1e6, 1e3);
  EXPECT_EQ(match.to_ours(9 * kSecond + 3'000'000), 3 * kSecond);
}

TEST(ClockMatch, AWallClockThatWasSetBackBeginsAnew) {
  ClockMatch match;
  add(match, 10 * kSecond, 100 * kSecond);
  add(match, 11 * kSecond, 50 * kSecond);
  EXPECT_EQ(match.to_ours(50 * kSecond + 5), 11 * kSecond + 5);
  EXPECT_EQ(match.error_ns(), kSecond);
}

TEST(BufferPool, NeverGivesNothing) {
  BufferPool pool;
  std::set<std::uint8_t*> taken;
  for (std::size_t i = 0; i < BufferPool::kMost; ++i) taken.insert(pool.take());
  EXPECT_EQ(taken.size(), BufferPool::kMost);
  EXPECT_EQ(pool.outstanding(), BufferPool::kMost);
  std::uint8_t* const discarded = pool.take();
  EXPECT_EQ(pool.take(), discarded);
  EXPECT_FALSE(taken.contains(discarded));
  EXPECT_LT(BufferPool::bytes_of(discarded), BufferPool::kBufferBytes);
  pool.filled(discarded, 1280);
  EXPECT_EQ(pool.take_thrown_away(), 10);
  EXPECT_EQ(pool.take_thrown_away(), 0);
  EXPECT_EQ(pool.next_filled().bytes, nullptr);
}

TEST(BufferPool, HandsBuffersOnInTheirOrder) {
  BufferPool pool;
  std::uint8_t* const first = pool.take();
  std::uint8_t* const second = pool.take();
  pool.filled(second, 5);
  pool.filled(first, BufferPool::kBufferBytes + 1);
  EXPECT_EQ(pool.next_filled().bytes, second);
  EXPECT_EQ(pool.next_filled().valid, 5);
  pool.free(second);
  EXPECT_EQ(pool.next_filled().bytes, first);
  EXPECT_EQ(pool.next_filled().valid, BufferPool::kBufferBytes) << "not beyond it";
}

TEST(Devices, NumbersInCudaVisibleDevices) {
  EXPECT_THAT(visible_numbers("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(visible_numbers("1,GPU-5,3"), ElementsAre(1));
  EXPECT_THAT(visible_numbers("1,-1,3"), ElementsAre(1));
  EXPECT_THAT(visible_numbers(""), IsEmpty());
  EXPECT_THAT(visible_numbers(","), IsEmpty());
  EXPECT_THAT(visible_numbers(nullptr), IsEmpty());
}

TEST(KeptCalls, AreThoseThatLaunchCopyWaitOrAllocate) {
  EXPECT_TRUE(is_kept(cupti::RuntimeCall::kCudaLaunchKernel));
  EXPECT_TRUE(is_kept(cupti::RuntimeCall::kCudaMemcpyAsync));
  EXPECT_TRUE(is_kept(cupti::RuntimeCall::kCudaStreamSynchronize));
  EXPECT_FALSE(is_kept(cupti::RuntimeCall::kCudaEventRecord));
  EXPECT_FALSE(is_kept(static_cast<cupti::RuntimeCall>(17)));  // cudaGetDevice
  EXPECT_TRUE(is_kept(cupti::DriverCall::kCuLaunchKernelEx));
  EXPECT_FALSE(is_kept(cupti::DriverCall::kCuStreamSynchronize)) << "within the runtime's";
}

}  // namespace
}  // namespace unstarve::recording
