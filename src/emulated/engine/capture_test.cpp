#include "emulated/engine/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulated/engine/schedule.h"

namespace unstarve::emulated {
namespace {

using ::testing::ElementsAre;

Operation work(std::int64_t duration_ns, const char* name) {
  Operation operation;
  operation.duration_ns = duration_ns;
  operation.share = 0.1F;
  operation.activity.kind = Activity::Kind::kKernel;
  operation.activity.name = name;
  return operation;
}

/// Launches a captured program twice in one stream, the second time at 1000.
std::vector<std::string> launch_twice(Capture capture) {
  Schedule schedule(1);
  const LaneId lane = schedule.add_lane(0, LaneOrder::kFree);
  Operation launch;
  launch.engine = Engine::kGraph;
  launch.program = std::make_shared<const Program>(std::move(capture).finish());
  launch.activity.correlation = 7;
  schedule.enqueue(lane, launch);
  launch.earliest_ns = 1000;
  schedule.enqueue(lane, launch);
  schedule.advance(5000);
  EXPECT_TRUE(schedule.idle());
  std::vector<std::string> all;
  for (const Ended& each : schedule.ended()) {
    EXPECT_EQ(each.activity.correlation, 7U);
    EXPECT_NE(each.activity.graph_node, 0U);
    all.push_back(std::string(each.activity.name) + " " + std::to_string(each.start_ns) + "-" +
                  std::to_string(each.end_ns));
  }
  return all;
}

TEST(CaptureTest, ReplaysWhatAStreamWasGiven) {
  Capture capture(1);
  const std::uint32_t lane = capture.add_lane(0);
  capture.add(lane, work(100, "a"));
  capture.add(lane, work(50, "b"));
  EXPECT_EQ(capture.node_count(), 2U);
  EXPECT_TRUE(capture.joined_in(lane));
  EXPECT_THAT(launch_twice(std::move(capture)),
              ElementsAre("a 0-100", "b 100-150", "a 1000-1100", "b 1100-1150"));
}

TEST(CaptureTest, BranchesRunBesideEachOther) {
  Capture capture(1);
  const std::uint32_t main = capture.add_lane(0);
  capture.add(main, work(100, "a"));
  const Capture::Place fork = capture.place(main);
  const std::uint32_t side = capture.add_lane(0);
  capture.wait(side, fork);
  capture.add(side, work(80, "side"));
  capture.add(main, work(50, "main"));
  EXPECT_FALSE(capture.joined_in(main));
  capture.wait(main, capture.place(side));
  EXPECT_TRUE(capture.joined_in(main));
  capture.add(main, work(10, "end"));
  EXPECT_THAT(launch_twice(std::move(capture)),
              ElementsAre("a 0-100", "main 100-150", "side 100-180", "end 180-190", "a 1000-1100",
                          "main 1100-1150", "side 1100-1180", "end 1180-1190"));
}

TEST(CaptureTest, WorkAfterTheEventThatJoinsIsNotJoined) {
  Capture capture(1);
  const std::uint32_t main = capture.add_lane(0);
  const std::uint32_t side = capture.add_lane(0);
  capture.wait(side, capture.place(main));
  capture.add(side, work(10, "before"));
  const Capture::Place event = capture.place(side);
  capture.add(side, work(10, "after"));
  capture.wait(main, event);
  EXPECT_FALSE(capture.joined_in(main));
}

TEST(CaptureTest, JoinsThroughAThirdStream) {
  Capture capture(1);
  const std::uint32_t main = capture.add_lane(0);
  const std::uint32_t second = capture.add_lane(0);
  const std::uint32_t third = capture.add_lane(0);
  capture.wait(second, capture.place(main));
  capture.add(second, work(10, "second"));
  capture.wait(third, capture.place(second));
  capture.add(third, work(10, "third"));
  capture.wait(main, capture.place(third));
  EXPECT_TRUE(capture.joined_in(main));
}

TEST(CaptureTest, AnEmptyGraphTakesNoTime) {
  Capture capture(1);
  capture.add_lane(0);
  EXPECT_THAT(launch_twice(std::move(capture)), ElementsAre());
}

TEST(CaptureTest, AGraphWithinAGraphRunsAsOneNode) {
  Capture inner(1);
  const std::uint32_t lane = inner.add_lane(0);
  inner.add(lane, work(30, "inner"));
  Operation launch;
  launch.engine = Engine::kGraph;
  launch.program = std::make_shared<const Program>(std::move(inner).finish());
  Capture outer(2);
  const std::uint32_t main = outer.add_lane(0);
  outer.add(main, launch);
  outer.add(main, work(10, "outer"));
  EXPECT_THAT(launch_twice(std::move(outer)),
              ElementsAre("inner 0-30", "outer 30-40", "inner 1000-1030", "outer 1030-1040"));
}

TEST(CaptureTest, HostFunctionsOfAGraphAreCalledAtEachLaunch) {
  Capture capture(1);
  const std::uint32_t lane = capture.add_lane(0);
  Operation call;
  call.engine = Engine::kHostFunction;
  capture.add(lane, call);
  Schedule schedule(1);
  const LaneId stream = schedule.add_lane(0, LaneOrder::kFree);
  Operation launch;
  launch.engine = Engine::kGraph;
  launch.program = std::make_shared<const Program>(std::move(capture).finish());
  EXPECT_EQ(launch.program->host_functions, 1);
  for (int i = 0; i < 2; ++i) {
    schedule.enqueue(stream, launch);
    schedule.advance(100 * i);
    const std::vector<DueHostFunction> due = schedule.take_due();
    ASSERT_EQ(due.size(), 1U);
    EXPECT_FALSE(schedule.idle());
    schedule.host_function_returned(due[0].id);
    schedule.advance(100 * i + 1);
    EXPECT_TRUE(schedule.idle());
  }
}

}  // namespace
}  // namespace unstarve::emulated
