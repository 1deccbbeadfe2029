#include "sink/recent/recent_job.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace unstarve::sink {
namespace {

using report::LiveState;

constexpr std::int64_t kStart = 1'000'000'000'000;
std::int64_t at(double s) { return kStart + static_cast<std::int64_t>(s * 1e9); }

class Recent : public ::testing::Test {
 protected:
  void SetUp() override {
    RunStart run;
    run.run_dir = "runs/a";
    run.command = {"python", "train.py"};
    run.started_ns = kStart;
    ASSERT_TRUE(recent_.begins(run));
  }
  void gpu(double s, double utilization) {
    trace::MetricRow metric;
    metric.name = "gpu.utilization_ratio";
    metric.subject = "gpu2";
    ASSERT_TRUE(recent_.takes(Sample{metric, at(s), utilization}));
  }
  void step(std::int64_t index, double from, double to, std::int64_t pid = 7) {
    trace::StepRow row;
    row.pid = pid;
    row.index = index;
    row.when = {at(from), at(to)};
    row.samples = 32;
    ASSERT_TRUE(recent_.takes(row));
  }
  void wait(double from, double to) {
    trace::WaitRow row;
    row.pid = 7;
    row.when = {at(from), at(to)};
    ASSERT_TRUE(recent_.takes(row));
  }
  void save(double from, double to) {
    trace::HostWorkRow row;
    row.kind = trace::HostWorkKind::kSave;
    row.when = {at(from), at(to)};
    ASSERT_TRUE(recent_.takes(row));
  }
  report::LiveJob look(double s) const { return recent_.look(at(s), 60); }

  /// For ten minutes.
  std::string idle_at(double s) const {
    const Reading<bool> idle = recent_.is_idle(at(s), 600);
    return !idle ? "unknown" : *idle ? "yes" : "no";
  }

  RecentJob recent_;
};

TEST_F(Recent, SaysWhatTheTimeOfTheLastSecondsGoesTo) {
  for (int i = 0; i < 40; ++i) {
    wait(i, i + 0.75);
    step(i, i, i + 1);
    gpu(i + 0.5, 0.25);
  }
  const report::LiveJob job = look(40.5);
  EXPECT_EQ(job.state, LiveState::kTraining);
  EXPECT_EQ(job.steps, 40);
  EXPECT_EQ(job.ranks, 1);
  EXPECT_NEAR(*job.waiting, 0.75, 1e-9);
  EXPECT_NEAR(*job.blocked, 0, 1e-9);
  EXPECT_NEAR(*job.step_s, 1, 1e-9);
  EXPECT_NEAR(*job.samples_per_s, 32, 1e-6);
  ASSERT_EQ(job.gpus.size(), 1U);
  EXPECT_EQ(job.gpus[0].index, 2);
  EXPECT_NEAR(*job.gpus[0].utilization, 0.25, 1e-9);
  ASSERT_EQ(job.waiting_curve.size(), 41U);
  EXPECT_NEAR(job.waiting_curve[3], 0.75, 1e-9);
  EXPECT_TRUE(std::isnan(job.waiting_curve[40]));
}

TEST_F(Recent, AFirstStepIsStartUp) {
  wait(8, 9.5);
  step(0, 0, 9.6);
  EXPECT_FALSE(look(9.7).waiting);
  EXPECT_FALSE(look(9.7).step_s);
  for (int i = 0; i < 20; ++i) {
    wait(9.6 + i * 0.02, 9.6 + i * 0.02 + 0.015);
    step(i + 1, 9.6 + i * 0.02, 9.6 + (i + 1) * 0.02);
  }
  const report::LiveJob job = look(10);
  EXPECT_EQ(job.steps, 21);
  EXPECT_NEAR(*job.step_s, 0.02, 1e-6);
  EXPECT_NEAR(*job.waiting, 0.75, 1e-6);
  EXPECT_NEAR(*job.samples_per_s, 1600, 1);
}

TEST_F(Recent, TwoRanksShareTheTime) {
  for (int i = 0; i < 20; ++i) {
    wait(i, i + 0.5);
    step(i, i, i + 1, 7);
    step(i, i, i + 1, 8);
  }
  const report::LiveJob job = look(20.5);
  EXPECT_EQ(job.ranks, 2);
  EXPECT_EQ(job.steps, 20);
  EXPECT_NEAR(*job.waiting, 0.25, 1e-9);
  EXPECT_NEAR(*job.samples_per_s, 64, 1e-6);
}

TEST_F(Recent, TellsWhatAJobDoesWithoutSteps) {
  EXPECT_EQ(look(5).state, LiveState::kStarting);
  wait(5, 6);
  EXPECT_EQ(look(50).state, LiveState::kStarting);
  step(0, 6, 7);
  EXPECT_EQ(look(8).state, LiveState::kTraining);
  EXPECT_EQ(look(30).state, LiveState::kQuiet);
  EXPECT_NEAR(look(30).quiet_s, 23, 1e-9);
  wait(28, 29);  // a batch of an evaluation
  EXPECT_EQ(look(30).state, LiveState::kLoading);
  save(29, 30);
  EXPECT_EQ(look(31).state, LiveState::kCheckpoint);
  RunEnd end;
  end.ended_ns = at(60);
  ASSERT_TRUE(recent_.ends(end));
  EXPECT_EQ(look(100).state, LiveState::kEnded);
  EXPECT_NEAR(look(100).elapsed_s, 60, 1e-9);
}

TEST_F(Recent, AJobOfLongStepsIsNotQuietBetweenThem) {
  step(0, 0, 30);
  step(1, 30, 60);
  EXPECT_EQ(look(100).state, LiveState::kTraining);
  EXPECT_EQ(look(160).state, LiveState::kQuiet);
}

TEST_F(Recent, IdlesWhoTrainedAndDoesNothingMore) {
  EXPECT_EQ(idle_at(900), "no") << "it only starts";
  step(0, 0, 1);
  EXPECT_EQ(idle_at(500), "no") << "not for so long";
  EXPECT_EQ(idle_at(700), "unknown") << "its GPU was not read";
  for (int i = 1; i < 700; ++i) gpu(i, 0);
  EXPECT_EQ(idle_at(700), "yes");
  wait(650, 660);
  EXPECT_EQ(idle_at(700), "no") << "it evaluates";
}

TEST_F(Recent, DoesNotIdleWhileItsGpuWorks) {
  step(0, 0, 1);
  for (int i = 1; i < 700; ++i) gpu(i, 0.9);
  EXPECT_EQ(idle_at(700), "no") << "a long kernel";
}

TEST_F(Recent, KeepsAnHourAndNoMore) {
  wait(0, 100'000);
  const report::LiveJob job = recent_.look(at(100'000), 1'000'000);
  EXPECT_EQ(job.waiting_curve.size(), 100'001U);
  int known = 0;
  step(0, 0, 100'000);
  for (const double value : recent_.look(at(100'000), 1'000'000).waiting_curve) {
    known += std::isfinite(value) ? 1 : 0;
  }
  EXPECT_LE(known, RecentJob::kKeptSeconds + 1);
}

}  // namespace
}  // namespace unstarve::sink
