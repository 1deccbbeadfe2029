#include "emulated/engine/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace unstarve::emulated {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ScheduleTest : public ::testing::Test {
 protected:
  LaneId stream(LaneOrder order = LaneOrder::kFree) { return schedule_.add_lane(0, order); }

  Operation work(std::int64_t duration_ns, float share = 1, const char* name = "kernel") const {
    Operation operation;
    operation.duration_ns = duration_ns;
    operation.share = share;
    operation.earliest_ns = now_ns_;
    operation.activity.kind = Activity::Kind::kKernel;
    operation.activity.name = name;
    return operation;
  }
  Operation copy(Engine engine, std::int64_t duration_ns, const char* name = "copy") const {
    Operation operation = work(duration_ns, 1, name);
    operation.engine = engine;
    return operation;
  }
  void turn_to(std::int64_t now_ns) {
    now_ns_ = now_ns;
    schedule_.advance(now_ns);
  }
  bool done(LaneId lane) { return schedule_.done(lane, schedule_.enqueued(lane)); }
  /// "name start-end" of all that ended.
  std::vector<std::string> ended() {
    std::vector<std::string> all;
    for (const Ended& each : schedule_.ended()) {
      all.push_back(std::string(each.activity.name) + " " + std::to_string(each.start_ns) + "-" +
                    std::to_string(each.end_ns));
    }
    schedule_.clear_ended();
    return all;
  }

  Schedule schedule_{2};
  std::int64_t now_ns_ = 0;
};

TEST_F(ScheduleTest, RunsAStreamInOrder) {
  const LaneId lane = stream();
  schedule_.enqueue(lane, work(100, 1, "a"));
  schedule_.enqueue(lane, work(50, 1, "b"));
  turn_to(99);
  EXPECT_THAT(ended(), IsEmpty());
  turn_to(149);
  EXPECT_THAT(ended(), ElementsAre("a 0-100"));
  EXPECT_FALSE(done(lane));
  turn_to(150);
  EXPECT_THAT(ended(), ElementsAre("b 100-150"));
  EXPECT_TRUE(done(lane));
  EXPECT_TRUE(schedule_.idle());
}

TEST_F(ScheduleTest, KeepsAGapBetweenKernelsAndALatencyBeforeTheFirst) {
  const LaneId lane = stream();
  Operation operation = work(100, 1, "a");
  operation.earliest_ns = 20;
  operation.gap_ns = 7;
  schedule_.enqueue(lane, operation);
  schedule_.enqueue(lane, operation);
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("a 20-120", "a 127-227"));
}

TEST_F(ScheduleTest, KnowsTheTimesOfWorkThatEndedLongAgo) {
  const LaneId lane = stream();
  schedule_.enqueue(lane, work(100, 1, "a"));
  now_ns_ = 500;
  schedule_.enqueue(lane, work(100, 1, "b"));
  turn_to(10'000);
  EXPECT_THAT(ended(), ElementsAre("a 0-100", "b 500-600"));
}

TEST_F(ScheduleTest, SmallKernelsOfTwoStreamsRunTogether) {
  schedule_.enqueue(stream(), work(100, 0.5F, "a"));
  schedule_.enqueue(stream(), work(100, 0.5F, "b"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("a 0-100", "b 0-100"));
}

TEST_F(ScheduleTest, LargeKernelsOfTwoStreamsSlowEachOther) {
  schedule_.enqueue(stream(), work(100, 1, "a"));
  schedule_.enqueue(stream(), work(50, 1, "b"));
  turn_to(1000);
  // Each at half the rate until the shorter one has ended.
  EXPECT_THAT(ended(), ElementsAre("b 0-100", "a 0-150"));
}

TEST_F(ScheduleTest, OtherProcessesSlowKernelsButNotCopies) {
  schedule_.set_others(0, 1);
  schedule_.enqueue(stream(), work(100, 1, "a"));
  schedule_.enqueue(stream(), copy(Engine::kCopyToDevice, 100, "up"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("up 0-100", "a 0-200"));
}

TEST_F(ScheduleTest, DevicesDoNotSlowEachOther) {
  schedule_.enqueue(schedule_.add_lane(0, LaneOrder::kFree), work(100, 1, "a"));
  schedule_.enqueue(schedule_.add_lane(1, LaneOrder::kFree), work(100, 1, "b"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("a 0-100", "b 0-100"));
}

TEST_F(ScheduleTest, CopiesOfOneDirectionFollowEachOtherAndOverlapWithAllElse) {
  schedule_.enqueue(stream(), copy(Engine::kCopyToDevice, 100, "up1"));
  schedule_.enqueue(stream(), copy(Engine::kCopyToDevice, 100, "up2"));
  schedule_.enqueue(stream(), copy(Engine::kCopyToHost, 100, "down"));
  schedule_.enqueue(stream(), work(150, 1, "kernel"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("up1 0-100", "down 0-100", "kernel 0-150", "up2 100-200"));
}

TEST_F(ScheduleTest, ACopyEngineTakesWhatWasReadyFirst) {
  const LaneId late = stream();
  const LaneId early = stream();
  const LaneId first = stream();
  schedule_.enqueue(late, work(50, 0.1F, "kernel"));
  schedule_.enqueue(late, copy(Engine::kCopyToDevice, 10, "late"));
  schedule_.enqueue(first, copy(Engine::kCopyToDevice, 100, "first"));
  Operation waiting = copy(Engine::kCopyToDevice, 10, "early");
  waiting.earliest_ns = 20;
  schedule_.enqueue(early, waiting);
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("kernel 0-50", "first 0-100", "early 100-110", "late 110-120"));
}

TEST_F(ScheduleTest, AMarkIsReachedWhenAllBeforeItHasEnded) {
  const LaneId lane = stream();
  schedule_.enqueue(lane, work(100));
  const auto mark = schedule_.mark(lane, 0);
  schedule_.enqueue(lane, work(100));
  turn_to(99);
  EXPECT_EQ(mark->done_ns, -1);
  turn_to(500);
  EXPECT_EQ(mark->done_ns, 100);
}

TEST_F(ScheduleTest, WaitsForAMarkOfAnotherStreamEvenOfAnotherDevice) {
  const LaneId first = stream();
  const LaneId second = schedule_.add_lane(1, LaneOrder::kFree);
  schedule_.enqueue(first, work(100, 1, "a"));
  schedule_.wait(second, *schedule_.mark(first, 0));
  schedule_.enqueue(second, work(10, 1, "b"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("a 0-100", "b 100-110"));
}

TEST_F(ScheduleTest, AMarkIsNotReachedBeforeItsCallArrives) {
  const LaneId first = stream();
  const LaneId second = stream();
  schedule_.enqueue(first, work(100, 1, "a"));
  const auto mark = schedule_.mark(first, 150);
  schedule_.wait(second, *mark);
  schedule_.enqueue(second, work(10, 1, "b"));
  turn_to(149);
  EXPECT_FALSE(schedule_.done(mark->lane, mark->position));
  turn_to(1000);
  EXPECT_TRUE(schedule_.done(mark->lane, mark->position));
  EXPECT_EQ(mark->done_ns, 150);
  EXPECT_THAT(ended(), ElementsAre("a 0-100", "b 150-160"));
}

TEST_F(ScheduleTest, AWaitForWhatHasHappenedHoldsNothingUp) {
  const LaneId first = stream();
  const LaneId second = stream();
  const auto mark = schedule_.mark(first, 0);
  turn_to(100);
  schedule_.wait(second, *mark);
  EXPECT_EQ(schedule_.enqueued(second), 0U);
}

TEST_F(ScheduleTest, TheLegacyStreamOrdersWithBlockingStreamsBothWays) {
  const LaneId legacy = stream(LaneOrder::kLegacy);
  const LaneId blocking = stream(LaneOrder::kBlocking);
  const LaneId free = stream(LaneOrder::kFree);
  schedule_.enqueue(blocking, work(100, 0.1F, "before"));
  schedule_.enqueue(free, work(30, 0.1F, "free"));
  schedule_.enqueue(legacy, work(100, 0.1F, "legacy"));
  schedule_.enqueue(blocking, work(100, 0.1F, "after"));
  schedule_.enqueue(free, work(30, 0.1F, "free"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("free 0-30", "free 30-60", "before 0-100", "legacy 100-200",
                                   "after 200-300"));
}

TEST_F(ScheduleTest, TheLegacyStreamOfAnotherDeviceOrdersWithNothingHere) {
  const LaneId legacy = schedule_.add_lane(1, LaneOrder::kLegacy);
  schedule_.enqueue(stream(LaneOrder::kBlocking), work(100, 1, "a"));
  schedule_.enqueue(legacy, work(50, 1, "b"));
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("b 0-50", "a 0-100"));
}

TEST_F(ScheduleTest, AHostFunctionHoldsItsStreamUntilItReturned) {
  const LaneId lane = stream();
  Operation call;
  call.engine = Engine::kHostFunction;
  int argument = 0;
  call.host.argument = &argument;
  schedule_.enqueue(lane, work(100, 1, "a"));
  schedule_.enqueue(lane, call);
  schedule_.enqueue(lane, work(100, 1, "b"));
  turn_to(99);
  EXPECT_FALSE(schedule_.has_due());
  turn_to(120);
  const std::vector<DueHostFunction> due = schedule_.take_due();
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].host.argument, &argument);
  turn_to(500);
  EXPECT_THAT(ended(), ElementsAre("a 0-100"));
  schedule_.host_function_returned(due[0].id);
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("b 500-600"));
}

class ScriptedGate : public Gate {
 public:
  std::optional<std::int64_t> ask(std::int64_t reached_ns) override {
    reached = reached_ns;
    return end_ns;
  }
  std::shared_ptr<Gate> again() override { return nullptr; }
  std::optional<std::int64_t> end_ns;
  std::int64_t reached = -1;
};

TEST_F(ScheduleTest, AGateEndsWhenItSaysAndTakesNothingOfTheDevice) {
  const LaneId lane = stream();
  auto gate = std::make_shared<ScriptedGate>();
  Operation gated = work(0, 1, "collective");
  gated.engine = Engine::kGate;
  gated.gate = gate;
  schedule_.enqueue(lane, work(100, 1, "a"));
  schedule_.enqueue(lane, gated);
  schedule_.enqueue(lane, work(10, 1, "b"));
  schedule_.enqueue(stream(), work(500, 0.5F, "beside"));
  turn_to(300);
  EXPECT_EQ(gate->reached, 150);  // a was slowed by the kernel beside it
  EXPECT_FALSE(done(lane));
  gate->end_ns = 400;
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("a 0-150", "collective 150-400", "b 400-415", "beside 0-555"));
}

TEST_F(ScheduleTest, AGateThatEndedInThePastEndsNow) {
  const LaneId lane = stream();
  auto gate = std::make_shared<ScriptedGate>();
  Operation gated = work(0, 1, "collective");
  gated.engine = Engine::kGate;
  gated.gate = gate;
  schedule_.enqueue(lane, gated);
  turn_to(300);
  gate->end_ns = 50;
  turn_to(301);
  EXPECT_THAT(ended(), ElementsAre("collective 0-300"));
}

TEST_F(ScheduleTest, PartsOfACopyAreOneRecord) {
  const LaneId lane = stream();
  Operation part = copy(Engine::kCopyToDevice, 100);
  part.activity.kind = Activity::Kind::kNone;
  schedule_.enqueue(lane, part);
  now_ns_ = 150;
  Operation last = copy(Engine::kCopyToDevice, 100, "copy");
  last.continues = true;
  schedule_.enqueue(lane, last);
  turn_to(1000);
  EXPECT_THAT(ended(), ElementsAre("copy 0-250"));
}

TEST_F(ScheduleTest, SaysHowLongToWaitWithoutEverBeingLate) {
  const LaneId lane = stream();
  for (int i = 0; i < 10; ++i) schedule_.enqueue(lane, work(100));
  turn_to(0);
  EXPECT_EQ(schedule_.earliest_end_ns(lane, 1), 100);
  EXPECT_EQ(schedule_.earliest_end_ns(lane, 10), 1000);
  turn_to(250);
  EXPECT_EQ(schedule_.earliest_end_ns(lane, 10), 1000);
  // Another stream slows it: the end is later than was said, and found by asking again.
  schedule_.enqueue(stream(), work(100));
  turn_to(1000);
  EXPECT_FALSE(done(lane));
  EXPECT_EQ(schedule_.earliest_end_ns(lane, 10), 1100);
  turn_to(1100);
  EXPECT_TRUE(done(lane));
}

TEST_F(ScheduleTest, TheEndOfWhatWaitsIsAfterWhatItWaitsFor) {
  const LaneId first = stream();
  const LaneId second = stream();
  schedule_.enqueue(first, work(1000));
  schedule_.wait(second, *schedule_.mark(first, 0));
  schedule_.enqueue(second, work(100));
  turn_to(0);
  EXPECT_EQ(schedule_.earliest_end_ns(second, schedule_.enqueued(second)), 1100);
}

TEST_F(ScheduleTest, AReleasedStreamStillDoesItsWorkAndIsUsedAgainAfterwards) {
  const LaneId lane = stream();
  schedule_.enqueue(lane, work(100, 1, "a"));
  schedule_.release_lane(lane);
  EXPECT_NE(stream(), lane);
  turn_to(200);
  EXPECT_THAT(ended(), ElementsAre("a 0-100"));
  EXPECT_EQ(stream(), lane);
}

TEST_F(ScheduleTest, AFactorStretchesKernelsAloneAndNoEndIsForeseenTooLate) {
  for (const double scale : {0.5, 1.5}) {
    schedule_.set_scale(0, scale);
    const std::int64_t begin_ns = now_ns_;
    const LaneId lane = stream();
    for (int i = 0; i < 2; ++i) schedule_.enqueue(lane, work(100, 1, "a"));
    schedule_.enqueue(lane, copy(Engine::kCopyToDevice, 60));
    const auto end_ns = begin_ns + static_cast<std::int64_t>(200 * scale) + 60;
    for (; now_ns_ < end_ns; turn_to(now_ns_ + 10)) {
      EXPECT_LE(schedule_.earliest_end_ns(lane, schedule_.enqueued(lane)), end_ns);
      EXPECT_FALSE(done(lane));
    }
    EXPECT_TRUE(done(lane));
    schedule_.set_scale(1, 1);  // of another device
  }
}

TEST_F(ScheduleTest, TellsWhichDevicesAreIdle) {
  schedule_.enqueue(schedule_.add_lane(1, LaneOrder::kFree), work(100));
  turn_to(50);
  EXPECT_TRUE(schedule_.idle(0));
  EXPECT_FALSE(schedule_.idle(1));
  EXPECT_EQ(schedule_.next_change_ns(), 100);
  turn_to(100);
  EXPECT_TRUE(schedule_.idle());
  EXPECT_EQ(schedule_.next_change_ns(), INT64_MAX);
}

}  // namespace
}  // namespace unstarve::emulated
