#include "trace/timeline/stack_sample.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "base/ring/mapped_ring.h"
#include "base/testing/test_folder.h"
#include "trace/load_run.h"
#include "trace/ring_follower.h"
#include "trace/run_writer.h"

namespace unstarve::trace {
namespace {

TEST(Stack, IsReadFromItsWords) {
  const Stack stack = parse_stack(
      R"x({"in": ["fetch", "decode", "jpeg", "png"], "line": "train.py:57", "function": "step",)x"
      R"x("callers": ["main"], "call": "a.convert()", "callee": "PIL/Image.py convert",)x"
      R"x("top": "PIL/ImageFile.py load", "transform": "RandAugment",)x"
      R"x("without_wait": "- a.item()",)x"
      R"x("transform_place": "train.py:41"})x");
  EXPECT_TRUE(stack.in_fetch && stack.in_decode && stack.in_jpeg && stack.in_png);
  EXPECT_FALSE(stack.in_wait || stack.in_collate || stack.in_sync);
  EXPECT_EQ(stack.line, "train.py:57");
  EXPECT_EQ(stack.function, "step");
  EXPECT_EQ(stack.call, "a.convert()");
  EXPECT_EQ(stack.without_wait, "- a.item()");
  EXPECT_EQ(stack.callee, "PIL/Image.py convert");
  EXPECT_EQ(stack.top, "PIL/ImageFile.py load");
  EXPECT_EQ(stack.callers, std::vector<std::string>{"main"});
  EXPECT_EQ(stack.transform, "RandAugment");
  EXPECT_EQ(stack.transform_place, "train.py:41");
}

TEST(Stack, WhatIsNotAsExpectedIsNotSaid) {
  for (const char* text : {"", "{", "[]", "7", R"({"in": 7, "line": 3, "callers": "a"})",
                           R"({"in": [1, {}], "callers": [null]})"}) {
    const Stack stack = parse_stack(text);
    EXPECT_TRUE(stack.line.empty() && stack.callers.empty() && !stack.in_fetch) << text;
  }
}

/// A ring of the hook with looks at process 9's thread 7.
class StackRing : public ::testing::Test {
 protected:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

  void SetUp() override {
    auto writer = RunWriter::create(dir_, RunInfo{}, {});
    ASSERT_TRUE(writer) << writer.error().message;
    writer_ = std::move(*writer);
    auto ring = RingWriter::create(dir_ + "/rings/hook-9-5.ring", {.capacity = 64});
    ASSERT_TRUE(ring) << ring.error().message;
    ring_ = std::make_unique<RingWriter>(std::move(*ring));
  }

  void look(std::int64_t t_ns, std::int64_t number, std::int64_t period_ns) {
    std::int64_t words[8] = {9 | (7LL << 32), t_ns, t_ns, number, period_ns, 3, kAbsent, kAbsent};
    ring_->append(std::as_bytes(std::span(words)));
  }
  void name(const char* words) {
    std::ofstream(dir_ + "/rings/hook-9-5.ring.names", std::ios::app) << words << '\n';
  }
  RingFollower follow() {
    Result<RingFollower> ring = RingFollower::open(dir_ + "/rings/hook-9-5.ring");
    EXPECT_TRUE(ring) << ring.error().message;
    return std::move(*ring);
  }

  TestFolder folder_;
  std::string dir_ = folder_.path() + "/run";
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<RingWriter> ring_;
};

TEST_F(StackRing, LooksReachTheTimeline) {
  RingFollower ring = follow();
  name(R"({"line": "train.py:1"})");
  look(30, 0, 50);
  ASSERT_TRUE(ring.drain(*writer_));
  name(R"({"line": "train.py:2"})");
  look(10, 1, 40);
  look(40, 0, 50);
  look(50, kAbsent, 50);  // there were too many to be named
  look(60, 0, 0);         // stands for no time: damaged
  ASSERT_TRUE(ring.drain(*writer_));
  ASSERT_TRUE(writer_->finish(100, 0));

  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->stack_samples.size(), 4U);
  std::vector<std::string> lines;
  for (const StackSample& sample : timeline->stack_samples) {
    lines.push_back(timeline->stacks.at(sample.stack).line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"train.py:2", "train.py:1", "train.py:1", ""}));
  EXPECT_EQ(timeline->stacks.size(), 3U) << "one for each text";
  const StackSample& first = timeline->stack_samples.front();
  EXPECT_EQ(first.t_ns, 10);
  EXPECT_EQ(first.period_ns, 40);
  EXPECT_EQ(first.late_ns, 3);
  EXPECT_EQ(first.thread, 7);
  EXPECT_EQ(timeline->events_lost, 1);
}

TEST_F(StackRing, WhatAKilledWatcherLeftIsReadFromTheRing) {
  name(R"({"line": "train.py:1"})");
  look(30, 0, 50);
  ASSERT_TRUE(writer_->commit());
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->stack_samples.size(), 1U);
  EXPECT_EQ(timeline->stacks.at(timeline->stack_samples[0].stack).line, "train.py:1");
}

}  // namespace
}  // namespace unstarve::trace
