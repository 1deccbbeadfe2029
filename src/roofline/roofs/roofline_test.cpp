#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/clock.h"
#include "roofline/roofs/core_scaling.h"
#include "roofline/roofs/measuring/measure.h"
#include "roofline/roofs/rate.h"
#include "roofline/roofs/repeats.h"
#include "roofline/roofs/roof.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Roof roof(const std::string& name, double value) { return make_roof(name, "bytes/s", {value}); }

std::vector<std::string> names_of(const MachineRoofs& known) {
  std::vector<std::string> names;
  for (const Roof& each : known.roofs) names.push_back(each.name);
  for (const AbsentRoof& each : known.absent) names.push_back("no " + each.name);
  return names;
}

TEST(Repeats, BestMedianAndSpreadBetweenTheQuartiles) {
  const Repeats repeats = summarise({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(repeats.best, 5);
  EXPECT_DOUBLE_EQ(repeats.median, 3);
  EXPECT_DOUBLE_EQ(repeats.spread_ratio, 2.0 / 3);
  EXPECT_EQ(repeats.count, 5);
  EXPECT_DOUBLE_EQ(summarise({1, 2}).median, 1.5);
  EXPECT_EQ(summarise({}).count, 0);
}

TEST(Merge, ACompleteGroupReplacesAllOfItsRoofsAndAnInterruptedOneThoseItHas) {
  MachineRoofs known;
  known.roofs = {roof("memory.copy.1_threads", 1), roof("memory.copy.8_threads", 8),
                 roof("disk.random_4k.depth_1", 3)};
  known.absent = {{"gpu", "no driver"}};
  MachineRoofs now;
  now.roofs = {roof("memory.copy.1_threads", 2)};

  MachineRoofs interrupted = known;
  merge(now, {}, interrupted);
  EXPECT_THAT(names_of(interrupted), ElementsAre("memory.copy.8_threads", "disk.random_4k.depth_1",
                                                 "memory.copy.1_threads", "no gpu"));
  merge(now, {"memory"}, known);
  EXPECT_THAT(names_of(known),
              ElementsAre("disk.random_4k.depth_1", "memory.copy.1_threads", "no gpu"));
  EXPECT_DOUBLE_EQ(known.roofs.back().value, 2);
}

TEST(Merge, WhatIsMeasuredIsNoLongerAbsent) {
  MachineRoofs known;
  known.absent = {{"gpu", "no driver"}, {"gemm.cpu", "no torch"}};
  MachineRoofs now;
  now.roofs = {roof("gpu.0.launch", 1), roof("gemm.cpu.float32", 1)};
  merge(now, {}, known);
  EXPECT_TRUE(known.absent.empty());
}

TEST(Session, RefusesWhatNoSuchMachineCanDo) {
  ManualClock clock;
  Session session(clock, {});
  session.add_below(roof("gpu.0.hbm.copy", 900), 1000, "data sheet");
  session.add_below(roof("gpu.0.hbm.set", 1310), 312, "data sheet");
  EXPECT_THAT(names_of(session.result()), ElementsAre("gpu.0.hbm.copy", "no gpu.0.hbm.set"));
  EXPECT_THAT(session.result().absent[0].reason, HasSubstr("refused as wrong"));
}

TEST(Session, KeepsNoRoofWithoutAValue) {
  ManualClock clock;
  Session session(clock, {});
  session.add(make_roof("disk.sequential.depth_1", "bytes/s", {}));
  session.add(roof("disk.sequential.depth_2", std::numeric_limits<double>::infinity()));
  EXPECT_THAT(names_of(session.result()),
              ElementsAre("no disk.sequential.depth_1", "no disk.sequential.depth_2"));
}

TEST(Rate, CountsWhatAllThreadsDoInAWindow) {
  SteadyClock clock;
  Session session(clock, {});
  const auto make = [](int) -> Result<Work> {
    return Work([]() -> Result<double> {
      SteadyClock own;
      own.sleep_until_ns(own.now_ns() + 1'000'000);
      return 1.0;
    });
  };
  const auto rates =
      measure_rate({.threads = 3, .duration_ns = 200'000'000, .windows = 2}, make, session);
  ASSERT_TRUE(rates);
  ASSERT_EQ(rates->size(), 2U);
  // A sleep takes longer than asked for, never less.
  EXPECT_GT((*rates)[0], 0);
  EXPECT_LE((*rates)[0], 3100);
}

TEST(Rate, PassesOnWhyWorkFailedAndEndsWhereSomebodyAsks) {
  SteadyClock clock;
  Session session(clock, {});
  const auto broken = [](int) -> Result<Work> {
    return Work([]() -> Result<double> { return fail(ErrorCode::kIo, "the disk is gone"); });
  };
  const auto failed = measure_rate({.threads = 2, .duration_ns = 20'000'000}, broken, session);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk is gone");

  Session stopped(clock, {.stopped = [] { return true; }, .doing = {}});
  const auto make = [](int) -> Result<Work> {
    return Work([]() -> Result<double> { return 1.0; });
  };
  const auto rates = measure_rate({.threads = 1, .duration_ns = 3'600'000'000'000}, make, stopped);
  ASSERT_TRUE(rates);
  EXPECT_TRUE(rates->empty());
}

TEST(CoreScaling, IsAShareOfACore) {
  EXPECT_FALSE(measure_core_scaling(1));
  // None where others have the CPUs for as long as it is measured.
  const double added = measure_core_scaling(2).value_or(0);
  EXPECT_GE(added, 0);
  EXPECT_LE(added, 1);
}

TEST(Rate, ThreadsAreDoubledUpToAll) {
  EXPECT_THAT(thread_counts(1), ElementsAre(1));
  EXPECT_THAT(thread_counts(6), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(thread_counts(8), ElementsAre(1, 2, 4, 8));
}

TEST(Parts, AWrongNameIsAnErrorThatSaysTheRightOnes) {
  EXPECT_TRUE(check_parts({}));
  EXPECT_TRUE(check_parts({"disk", "memory"}));
  const Status wrong = check_parts({"memory", "discs"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("'discs'"));
  EXPECT_THAT(wrong.error().message, HasSubstr("memory, disk"));
}

}  // namespace
}  // namespace unstarve::roofline
