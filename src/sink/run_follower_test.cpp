#include "sink/run_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/testing/test_folder.h"
#include "trace/run_writer.h"

namespace unstarve::sink {
namespace {

using ::testing::ElementsAre;

/// Overrides what it wants, as a sink does.
class Heard final : public Sink {
 public:
  Status takes(const Sample& sample) override {
    samples.emplace_back(sample.metric.name, sample.t_ns);
    return refuse ? Status(fail(ErrorCode::kIo, "full")) : Status{};
  }
  Status takes(const trace::StepRow& step) override {
    steps.push_back(step.index);
    return {};
  }
  Status ends(const RunEnd& end) override {
    exits.push_back(end.exit_code.value_or(-1));
    return {};
  }
  bool wants_verdict() const override { return wants; }
  Status takes(const report::Report& /*verdict*/) override {
    ++verdicts;
    return {};
  }

  bool refuse = false;
  bool wants = false;
  int verdicts = 0;
  std::vector<std::pair<std::string, std::int64_t>> samples;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> exits;
};

class Follower : public ::testing::Test {
 protected:
  void SetUp() override {
    trace::RunInfo info;
    info.run_id = "a";
    info.command = {"python", "train.py"};
    info.started_ns = 5;
    auto writer = trace::RunWriter::create(dir_, info, {});
    ASSERT_TRUE(writer) << writer.error().message;
    writer_ = std::move(*writer);
    trace::MetricRow metric;
    metric.name = "gpu.power_w";
    metric.subject = "gpu0";
    metric_ = writer_->add_metric(metric);
  }
  void sample(std::int64_t t_ns) { writer_->add(trace::SampleRow{t_ns, metric_, 250.0}); }
  void step(std::int64_t index) {
    trace::StepRow row;
    row.pid = 9;
    row.index = index;
    row.when = {10 * index, 10 * index + 10};
    writer_->add(row);
  }

  RunFollower opened() const {
    auto follower = RunFollower::open(dir_);
    EXPECT_TRUE(follower) << follower.error().message;
    return *std::move(follower);
  }

  TestFolder folder_;
  std::string dir_ = folder_.path() + "/run";
  std::unique_ptr<trace::RunWriter> writer_;
  std::int64_t metric_ = 0;
  Heard heard_;
};

TEST_F(Follower, HandsOverWhatIsNewAndNothingTwice) {
  RunFollower follower = opened();
  sample(10);
  step(0);
  ASSERT_TRUE(writer_->commit());
  auto followed = follower.advance(heard_);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_EQ(followed->rows, 2);
  EXPECT_FALSE(followed->has_ended);
  EXPECT_EQ(follower.advance(heard_)->rows, 0);
  sample(20);
  step(1);
  ASSERT_TRUE(writer_->finish(30, 3));
  followed = follower.advance(heard_);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_TRUE(followed->has_ended);
  EXPECT_THAT(heard_.samples,
              ElementsAre(std::pair("gpu.power_w", 10), std::pair("gpu.power_w", 20)));
  EXPECT_THAT(heard_.steps, ElementsAre(0, 1));
  EXPECT_THAT(heard_.exits, ElementsAre(3));
}

TEST_F(Follower, AMetricThatIsNewIsNamed) {
  RunFollower follower = opened();
  sample(10);
  ASSERT_TRUE(writer_->commit());
  ASSERT_TRUE(follower.advance(heard_));
  trace::MetricRow late;
  late.name = "job.cpu_cores";
  writer_->add(trace::SampleRow{20, writer_->add_metric(late), 1.0});
  ASSERT_TRUE(writer_->commit());
  ASSERT_TRUE(follower.advance(heard_));
  EXPECT_EQ(heard_.samples.back().first, "job.cpu_cores");
}

TEST_F(Follower, ARunIsFollowedToItsEnd) {
  ManualClock clock;
  int asked = 0;
  const auto end = opened().follow(heard_, clock, [&] {
    step(asked++);
    EXPECT_TRUE(asked < 40 ? writer_->commit() : writer_->finish(30, 0));
    return false;
  });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, RunFollower::End::kEnded);
  EXPECT_EQ(heard_.steps.size(), 40U);
  EXPECT_GT(clock.now_ns(), RunFollower::kSilenceNs);  // it was never silent for so long
}

TEST_F(Follower, ARunThatFallsSilentIsLeft) {
  ManualClock clock;
  step(0);
  ASSERT_TRUE(writer_->commit());
  const auto end = opened().follow(heard_, clock, [] { return false; });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, RunFollower::End::kSilent);
  EXPECT_GT(clock.now_ns(), RunFollower::kSilenceNs);
  EXPECT_THAT(heard_.exits, ElementsAre());
}

TEST_F(Follower, FollowingEndsWhereItIsStopped) {
  ManualClock clock;
  int asked = 0;
  const auto end = opened().follow(heard_, clock, [&asked] { return ++asked == 3; });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, RunFollower::End::kStopped);
  EXPECT_EQ(clock.now_ns(), kSecondNs);
}

TEST_F(Follower, AVerdictIsMadeForWhoWantsIt) {
  step(0);
  ASSERT_TRUE(writer_->finish(30, 0));
  ASSERT_TRUE(opened().advance(heard_));
  EXPECT_EQ(heard_.verdicts, 0);
  heard_.wants = true;
  const auto followed = opened().advance(heard_);
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_EQ(heard_.verdicts, 1);
}

TEST_F(Follower, WhatASinkRefusesIsAnError) {
  heard_.refuse = true;
  sample(10);
  ASSERT_TRUE(writer_->commit());
  const auto followed = opened().advance(heard_);
  ASSERT_FALSE(followed);
  EXPECT_EQ(followed.error().message, "full");
}

TEST(RunFollower, WhereNoRunLiesNoneIsFollowed) {
  const TestFolder folder;
  EXPECT_FALSE(RunFollower::open(folder.path()));
}

TEST(SinkKinds, EachHasANameAndWords) {
  for (const SinkKind& kind : sink_kinds()) {
    EXPECT_FALSE(kind.name.empty());
    EXPECT_FALSE(kind.what.empty()) << kind.name;
    ASSERT_NE(kind.open, nullptr) << kind.name;
    EXPECT_FALSE(kind.open("/nowhere/at/all")) << kind.name;
  }
}

}  // namespace
}  // namespace unstarve::sink
