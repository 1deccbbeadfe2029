#include "job/job_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "job/device_time.h"
#include "job/rank/recorded.h"
#include "job/rank/step_phase.h"

namespace unstarve::job {
namespace {

using trace::Timeline;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kTraining = 3;
constexpr std::int64_t kValidation = 1;

// A live job of process 7: steps of 100 ms, each beginning with a wait for the training loader. A
// step may hold a pass over the validation loader of 50 more ms.
class Job {
 public:
  Job() { timeline_.input = trace::InputKind::kRun; }

  Job& wait(std::int64_t loader, std::int64_t ms) {
    trace::LoaderWait wait;
    wait.when = {now_, now_ + ms * kMs};
    wait.thread = 7;
    wait.process = 7;
    wait.loader_id = loader;
    timeline_.loader_waits.push_back(wait);
    trace::Fetch fetch;
    fetch.when = wait.when;
    fetch.process = 7;
    fetch.loader_id = loader;
    timeline_.fetches.push_back(fetch);
    now_ = wait.when.end_ns;
    return *this;
  }
  Job& steps(int count) {
    for (int i = 0; i < count; ++i) wait(kTraining, 60).end_step(40);
    return *this;
  }
  Job& evaluate() {
    for (int i = 0; i < 5; ++i) wait(kValidation, 50);
    return *this;
  }
  Job& loader(std::int64_t id, std::int64_t workers) {
    trace::LoaderConfig config;
    config.process = 7;
    config.id = id;
    config.num_workers = workers;
    timeline_.loaders.push_back(config);
    return *this;
  }
  Job& end_step(std::int64_t ms) {
    now_ += ms * kMs;
    trace::Step step;
    step.when = {step_start_, now_};
    step.index = static_cast<std::int64_t>(timeline_.steps.size());
    step.thread = 7;
    step.process = 7;
    timeline_.steps.push_back(step);
    step_start_ = now_;
    return *this;
  }
  const Timeline& timeline() const { return timeline_; }

 private:
  Timeline timeline_;
  std::int64_t now_ = 0;
  std::int64_t step_start_ = 0;
};

void expect_training_loader(const Timeline& timeline, std::int64_t workers) {
  const JobView job(timeline);
  ASSERT_EQ(job.ranks().size(), 1U);
  const Rank& rank = job.ranks().front();
  ASSERT_EQ(rank.loaders.size(), 2U);
  const LoaderUse* loader = rank.training_loader();
  EXPECT_EQ(*loader->id, kTraining);
  EXPECT_TRUE(loader->feeds_training);
  EXPECT_EQ(loader->config->num_workers, workers);
  EXPECT_EQ(loader->fetches.size(), loader->waits.size());
  EXPECT_FALSE(rank.loaders.back().feeds_training);
}

TEST(LoaderUse, IsToldByTheStepsAndNotByTheOrder) {
  expect_training_loader(
      Job().loader(kTraining, 0).steps(6).loader(kValidation, 8).evaluate().steps(6).timeline(), 0);
  // A sanity check of the validation data before the first step, as some trainers make it.
  expect_training_loader(
      Job().loader(kValidation, 8).evaluate().loader(kTraining, 0).steps(6).timeline(), 0);
}

TEST(LoaderUse, AnotherRanksFetchesAreNotIts) {
  Timeline timeline = Job().loader(kTraining, 2).steps(4).timeline();
  for (int i = 0; i < 4; ++i) {
    trace::Fetch fetch = timeline.fetches[static_cast<std::size_t>(i)];
    fetch.process = 90 + i;
    fetch.trainer = i < 2 ? 7 : 8;  // workers of both ranks, of a loader with the same number
    timeline.fetches.push_back(fetch);
  }
  trace::Step other = timeline.steps.front();
  other.process = 8;
  other.thread = 8;
  timeline.steps.push_back(other);
  const JobView job(timeline);
  const auto rank = std::find_if(job.ranks().begin(), job.ranks().end(),
                                 [](const Rank& candidate) { return candidate.process == 7; });
  ASSERT_NE(rank, job.ranks().end());
  ASSERT_NE(rank->training_loader(), nullptr);
  EXPECT_EQ(rank->training_loader()->fetches.size(), 6U);
}

TEST(Rank, OfAProcessWithoutStepsHasThoseOfTheProcessWithMost) {
  Timeline timeline = Job().steps(4).timeline();
  trace::Step other = timeline.steps.front();
  other.process = 8;
  timeline.steps.push_back(other);
  const Rank rank = gather_rank(timeline, {9, 9});
  EXPECT_EQ(rank.process, 9);
  ASSERT_EQ(rank.steps.size(), 4U);
  EXPECT_EQ(rank.steps.front().process, 7);
}

TEST(Rank, WaitsWhileALoadersWorkersAreStarted) {
  Timeline timeline = Job().loader(kTraining, 2).steps(3).timeline();
  trace::LoaderConfig& config = timeline.loaders.front();
  config.made_ns = 170 * kMs;  // the second step waits from 100 to 160 ms, the third from 200 on
  config.ready_ns = 190 * kMs;
  config.thread = 7;
  const trace::Interval second = {100 * kMs, 200 * kMs};
  EXPECT_EQ(covered_ns(JobView(timeline).ranks().front().waits, second), 80 * kMs);
  config.thread = 8;  // a prefetcher's
  EXPECT_EQ(covered_ns(JobView(timeline).ranks().front().waits, second), 60 * kMs);
  config.thread = 7;
  config.ready_ns = {};  // a run of an earlier version
  EXPECT_EQ(covered_ns(JobView(timeline).ranks().front().waits, second), 60 * kMs);
}

TEST(LoaderUse, TheLastConfigurationCounts) {
  const Timeline timeline =
      Job().loader(kTraining, 0).steps(3).loader(kTraining, 4).steps(3).timeline();
  const JobView job(timeline);
  EXPECT_EQ(job.ranks().front().training_loader()->config->num_workers, 4);
}

TEST(LoaderUse, TwoLoadersOfEveryStepBothFeedIt) {
  Job job;
  for (int i = 0; i < 5; ++i) job.wait(kTraining, 10).wait(kValidation, 30).end_step(40);
  const JobView view(job.timeline());
  const Rank& rank = view.ranks().front();
  ASSERT_EQ(rank.loaders.size(), 2U);
  EXPECT_TRUE(rank.loaders[0].feeds_training && rank.loaders[1].feeds_training);
  EXPECT_EQ(*rank.training_loader()->id, kValidation) << "the one that it waits for longest";
  EXPECT_EQ(rank.training_steps().size(), 4U) << "all but the warm-up";
}

TEST(LoaderUse, TheOneThatIsWaitedForIsSpokenOf) {
  Job slow_evaluation;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 10; ++i) slow_evaluation.wait(kTraining, 1).end_step(10);
    for (int i = 0; i < 4; ++i) slow_evaluation.wait(kValidation, 200);
  }
  slow_evaluation.steps(2);
  const JobView job(slow_evaluation.timeline());
  EXPECT_EQ(*job.ranks().front().training_loader()->id, kTraining);
  EXPECT_EQ(*job.ranks().front().waited_loader()->id, kValidation);

  // Where both hold the job up, it is about the training's, whose gains can be predicted.
  Job both;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 10; ++i) both.wait(kTraining, 100).end_step(10);
    for (int i = 0; i < 10; ++i) both.wait(kValidation, 150);
  }
  both.steps(2);
  const JobView starved(both.timeline());
  EXPECT_EQ(*starved.ranks().front().waited_loader()->id, kTraining);

  // What was waited before the steps that count does not.
  Job sanity_check;
  sanity_check.wait(kValidation, 5000);
  for (int i = 0; i < 10; ++i) sanity_check.wait(kTraining, 5).end_step(10);
  sanity_check.wait(kValidation, 20).steps(2);
  const JobView checked(sanity_check.timeline());
  EXPECT_EQ(*checked.ranks().front().waited_loader()->id, kTraining);
}

TEST(StepPhase, StepsWithAnEvaluationAreNoTraining) {
  const Timeline timeline = Job().steps(4).evaluate().steps(4).timeline();
  const JobView job(timeline);
  const Rank& rank = job.ranks().front();
  ASSERT_EQ(rank.steps.size(), 8U);
  EXPECT_EQ(rank.phases[0], StepPhase::kWarmUp);
  EXPECT_EQ(rank.phases[3], StepPhase::kTraining);
  EXPECT_EQ(rank.phases[4], StepPhase::kEvaluation);
  EXPECT_EQ(rank.training_steps().size(), 6U);
  EXPECT_EQ((*rank.span).start_ns, 100 * kMs);
}

TEST(StepPhase, AStepEndsBeforeItsEnd) {
  std::vector<trace::Step> steps(2);
  steps[0].when = {10, 20};
  steps[1].when = {30, 40};
  EXPECT_EQ(step_at(steps, 9), -1);
  EXPECT_EQ(step_at(steps, 10), 0);
  EXPECT_EQ(step_at(steps, 19), 0);
  EXPECT_EQ(step_at(steps, 20), -1) << "it belongs to what comes after the step";
  EXPECT_EQ(step_at(steps, 30), 1);
  EXPECT_EQ(step_at(steps, 40), -1);
}

TEST(Rank, IsTheProcessThatLaunches) {
  Timeline timeline = Job().steps(3).timeline();
  for (std::int64_t i = 0; i < 5; ++i) {  // another rank, with more steps
    trace::Step step;
    step.when = {i * 10 * kMs, (i + 1) * 10 * kMs};
    step.thread = 8;
    step.process = 8;
    timeline.steps.push_back(step);
  }
  trace::sort_by_start(timeline);
  EXPECT_EQ(JobView(timeline).ranks().front().process, 8) << "the one with the most steps";

  trace::HostCall call;
  call.kind = trace::HostCallKind::kLaunch;
  call.correlation = 1;
  call.process = 7;
  call.thread = 7;
  timeline.host_calls.push_back(call);
  trace::DeviceOp op;
  op.start_ns = kMs;
  op.end_ns = 2 * kMs;
  op.correlation = 1;
  timeline.device_ops.push_back(op);
  timeline.training_devices.push_back({.process = 7, .kind = "cuda"});
  const JobView job(timeline);
  ASSERT_EQ(job.devices().size(), 1U);
  EXPECT_EQ(job.rank_of(job.devices().front()).process, 7);
  EXPECT_EQ(job.rank_of(job.devices().front()).steps.size(), 3U);
}

/// Nine steps of 100 ms behind the warm-up, with `count` operations of `ns` each in the last ones.
Timeline with_operations(std::int64_t count, std::int64_t ns) {
  Timeline timeline = Job().steps(10).timeline();
  for (std::int64_t i = 0; i < count; ++i) {
    trace::DeviceOp op;
    op.start_ns = (999 - i) * kMs - ns;
    op.end_ns = op.start_ns + ns;
    timeline.device_ops.push_back(op);
  }
  trace::sort_by_start(timeline);
  return timeline;
}

TEST(SetAside, IsAGpuOfAJobThatTrainsOnTheCpuUnlessItDoesMuch) {
  Timeline timeline = with_operations(40, kMs);
  EXPECT_FALSE(JobView(timeline).set_aside()) << "more than an operation a step";
  timeline.training_devices = {{.process = 7, .kind = "cpu"}};
  const JobView job(timeline);
  ASSERT_TRUE(job.set_aside());
  EXPECT_EQ(job.set_aside()->reason, AsideReason::kTrainsOnHost);
  EXPECT_EQ(job.set_aside()->operations, 40);
  EXPECT_EQ(job.set_aside()->busy_ns, 40 * kMs);
  EXPECT_EQ(job.set_aside()->of_ns, 900 * kMs);
  EXPECT_TRUE(job.devices().empty());
  ASSERT_EQ(job.ranks().size(), 1U);
  EXPECT_EQ(job.ranks().front().steps.size(), 10U);
  timeline = with_operations(100, kMs);
  timeline.training_devices = {{.process = 7, .kind = "cpu"}};
  EXPECT_FALSE(JobView(timeline).set_aside());
}

TEST(SetAside, IsAGpuOfWhichNobodySaysThatItTrainsWithLessThanAnOperationAStep) {
  EXPECT_TRUE(JobView(with_operations(8, 1'000)).set_aside());
  EXPECT_FALSE(JobView(with_operations(9, 1'000)).set_aside());
  EXPECT_FALSE(JobView(with_operations(8, 2 * kMs)).set_aside()) << "busy all the same";
  Timeline behind = with_operations(100, kMs);
  for (trace::DeviceOp& op : behind.device_ops) {
    op.start_ns += 1000 * kMs;
    op.end_ns += 1000 * kMs;
  }
  EXPECT_FALSE(JobView(behind).set_aside()) << "its queue is longer than the steps";
  Timeline other = with_operations(8, 1'000);
  for (trace::DeviceOp op : with_operations(30, 1'000).device_ops) {
    op.device = 1;
    other.device_ops.push_back(op);
  }
  trace::sort_by_start(other);
  EXPECT_EQ(JobView(other).devices().size(), 2U) << "another GPU trains";
}

TEST(DeviceTime, CountsEachInstantOnceByPriority) {
  DeviceTimeSweep sweep({0, 100});
  const auto add = [&sweep](std::int64_t start, std::int64_t end, trace::DeviceOpKind kind) {
    trace::DeviceOp op;
    op.start_ns = start;
    op.end_ns = end;
    op.kind = kind;
    sweep.add(op);
  };
  add(-10, 40, trace::DeviceOpKind::kCopy);
  add(10, 70, trace::DeviceOpKind::kCommunication);
  add(20, 30, trace::DeviceOpKind::kCompute);
  EXPECT_EQ(sweep.busy_until_ns(), 70);
  add(60, 120, trace::DeviceOpKind::kMemset);
  const DeviceTime time = sweep.time();
  EXPECT_EQ(time.compute_ns, 10 + 40);
  EXPECT_EQ(time.exposed_communication_ns, 10 + 30);
  EXPECT_EQ(time.exposed_copy_ns, 10);
  EXPECT_EQ(time.communication_ns, 60);
  EXPECT_EQ(time.copy_ns, 40);
  EXPECT_EQ(time.busy_ns(), 100);
}

/// Calls from 1 s on, 10 ms apart, each of which launches `operations` kernels in a row.
void launch(Timeline& timeline, int calls, int operations) {
  for (int call = 0; call < calls; ++call) {
    const std::int64_t at_ns = 1000 * kMs + call * 10 * kMs;
    trace::HostCall host;
    host.start_ns = at_ns;
    host.end_ns = at_ns + 5'000;
    host.correlation = call;
    host.thread = host.process = 7;
    host.kind = trace::HostCallKind::kLaunch;
    timeline.host_calls.push_back(host);
    for (int i = 0; i < operations; ++i) {
      trace::DeviceOp op;
      op.start_ns = at_ns + 10'000 + i * 50'000;
      op.end_ns = op.start_ns + 40'000;
      op.correlation = call;
      op.kind = trace::DeviceOpKind::kCompute;
      timeline.device_ops.push_back(op);
    }
  }
}

TEST(JobView, ReplaysOfAGraphAreStepsWhereItsCaptureWasAllThatStepped) {
  Timeline timeline = Job().steps(3).timeline();
  launch(timeline, 100, 40);
  const JobView view(timeline);
  const Rank& rank = view.ranks().at(0);
  ASSERT_EQ(rank.steps.size(), 99U);
  EXPECT_EQ(rank.steps[1].source, trace::StepSource::kRepetition);
  EXPECT_EQ(rank.steps[1].when.duration_ns(), 10 * kMs);

  // Neither single kernels nor few replays are.
  for (const auto& [calls, operations] : {std::pair(400, 1), std::pair(20, 40)}) {
    Timeline other = Job().steps(3).timeline();
    launch(other, calls, operations);
    EXPECT_EQ(JobView(other).ranks().at(0).steps.size(), 3U) << calls;
  }
}

}  // namespace
}  // namespace unstarve::job
