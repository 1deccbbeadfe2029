#include "trial/trial_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/testing/test_folder.h"
#include "examine/history/trial_dirs.h"
#include "examine/history/trial_list.h"
#include "trace/run_reader.h"
#include "trace/run_writer.h"

namespace unstarve::trial {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A run of steps of 100 ms that begin with a wait of `wait_ms` for batches of 8; the GPU's monitor
/// says how busy it is.
void write_run(const std::string& dir, std::int64_t steps, std::int64_t wait_ms) {
  trace::RunInfo info;
  info.run_id = "r";
  info.command = {"python", "train.py"};
  auto writer = trace::RunWriter::create(dir, info, {});
  ASSERT_TRUE(writer) << writer.error().message;
  trace::LoaderRow loader;
  loader.pid = 9;
  loader.loader_id = 1;
  loader.batch_size = 8;
  (*writer)->add(loader);
  trace::MetricRow metric;
  metric.name = "gpu.utilization_ratio";
  metric.subject = "gpu0";
  const std::int64_t busy = (*writer)->add_metric(metric);
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start_ns = i * (wait_ms + 40) * kMs;
    trace::StepRow step;
    step.pid = step.thread = 9;
    step.index = i;
    step.samples = 8;
    step.when = {start_ns, start_ns + (wait_ms + 40) * kMs};
    (*writer)->add(step);
    trace::WaitRow wait;
    wait.pid = wait.thread = 9;
    wait.loader_id = 1;
    wait.samples = 8;
    wait.when = {start_ns, start_ns + wait_ms * kMs};
    (*writer)->add(wait);
    (*writer)->add(trace::SampleRow{start_ns, busy, 0.4});
  }
  ASSERT_TRUE((*writer)->finish(steps * (wait_ms + 40) * kMs, 0));
}

Result<TriedJob> read(const std::string& folder) { return read_trials(folder, {}); }

class TrialFolder : public testing::Test {
 protected:
  TestFolder folder_;
  std::string runs_ = folder_.path() + "/runs";
};

TEST_F(TrialFolder, ARunKeepsThePredictionsThatWereMadeForIt) {
  write_run(runs_, 20, 60);
  auto job = read(runs_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->before.predictions.gains.count("more_workers"), 1U) << "from the recording alone";
  EXPECT_TRUE(job->verification.empty());

  // A calibration said something else then; it cannot be had again.
  job->before.predictions.gains = {{"more_workers", {1.5, 1.4, 1.6}}};
  ASSERT_TRUE(store_results(*job));
  const auto again = read(runs_);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->before.predictions.gains.size(), 1U);
  EXPECT_EQ((*again->before.advice.find("more_workers")->predicted).high, 1.6);
  EXPECT_NE(again->before.advice.verdict.find("1.50x"), std::string::npos)
      << again->before.advice.verdict;
}

TEST_F(TrialFolder, ComparesEachRemedysRunWithTheRunBefore) {
  write_run(examine::trial_dir(runs_, examine::kBefore), 20, 60);
  write_run(examine::trial_dir(runs_, "more_workers"), 20, 10);
  EXPECT_TRUE(examine::holds_trials(runs_));
  EXPECT_FALSE(examine::holds_trials(examine::trial_dir(runs_, examine::kBefore)));
  auto job = read(runs_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->verification.size(), 1U);
  const Verification& tried = job->verification.front();
  EXPECT_EQ(tried.remedy, "more_workers");
  EXPECT_NEAR(tried.measured.speedup, 2.0, 1e-6);
  EXPECT_NEAR(tried.before.step_us, 100'000, 1e-6);
  EXPECT_NEAR(tried.after.step_us, 50'000, 1e-6);
  ASSERT_TRUE(tried.predicted);
  EXPECT_EQ(tried.held, (*tried.predicted).low <= 2.0 && 2.0 <= (*tried.predicted).high);

  ASSERT_TRUE(store_results(*job));
  const auto reader = trace::RunReader::open(job->before.run_dir);
  ASSERT_TRUE(reader);
  const auto rows = reader->predictions();
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(*rows->front().measured_speedup, tried.measured.speedup);
  EXPECT_EQ(*rows->front().held, tried.held ? 1 : 0);
}

TEST_F(TrialFolder, TheStoreKeepsWhatListsShowOfTheVerdict) {
  write_run(runs_, 20, 60);
  const auto job = read(runs_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_TRUE(store_results(*job));
  const auto reader = trace::RunReader::open(runs_);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(job->before.advice.leading_finding);
  EXPECT_EQ(reader->number("leading_finding"),
            static_cast<std::int64_t>(*job->before.advice.leading_finding));
  EXPECT_EQ(reader->info("step_us"), "100000");
  EXPECT_EQ(reader->info("samples_per_s"), "80");
  EXPECT_EQ(reader->info("gpu_idle_ratio"), "") << "no GPU was recorded";
}

TEST_F(TrialFolder, ARemedyIsKeptThatIsFasterThanBothRunsAroundIt) {
  write_run(examine::trial_dir(runs_, examine::kBefore), 20, 60);
  write_run(examine::trial_dir(runs_, "more_workers"), 20, 10);        // 50 ms
  write_run(examine::trial_dir(runs_, "more_workers.again"), 20, 70);  // 110 ms
  write_run(examine::trial_dir(runs_, "pin_memory"), 20, 2);           // 42 ms, on top of it
  write_run(examine::trial_dir(runs_, "pin_memory.again"), 20,
            0);  // 40 ms: the machine is faster now
  ASSERT_TRUE(examine::write_trial_list(
      runs_,
      {{"more_workers", "workers", "before", "before", "more_workers.again", "words", "diff"},
       {"pin_memory", "pin", "more_workers", "more_workers", "pin_memory.again", "", ""},
       {"../x", "", "before", "before", "", "", ""}}));
  const auto job = read(runs_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->verification.size(), 2U) << "a name is no path";
  const Verification& kept = job->verification[0];
  EXPECT_NEAR(kept.measured.speedup, std::sqrt(2.0 * 2.2), 1e-6);
  EXPECT_NEAR(kept.measured.low, 2.0, 1e-6);
  EXPECT_NEAR(kept.measured.high, 2.2, 1e-6);
  EXPECT_EQ(kept.outcome, Outcome::kKept);
  ASSERT_TRUE(kept.again);
  EXPECT_NEAR(kept.again->step_us, 110'000, 1e-6);
  EXPECT_EQ(kept.permanent, "words");
  EXPECT_EQ(kept.diff, "diff");
  const Verification& doubtful = job->verification[1];
  EXPECT_EQ(doubtful.base, "more_workers");
  EXPECT_NEAR(doubtful.before.step_us, 50'000, 1e-6);
  EXPECT_GT(doubtful.measured.speedup, kWorthKeeping);
  EXPECT_EQ(doubtful.outcome, Outcome::kNotKept) << "faster than one of both runs alone";
  EXPECT_FALSE(doubtful.predicted);
}

TEST_F(TrialFolder, WhatWasFoundByMoreRunsIsReadAsItWasFound) {
  write_run(examine::trial_dir(runs_, examine::kBefore), 20, 60);
  write_run(examine::trial_dir(runs_, "more_workers"), 20, 10);
  write_run(examine::trial_dir(runs_, "more_workers.2"), 20, 0);  // 40 ms: the faster one
  write_run(examine::trial_dir(runs_, "more_workers.without"), 20, 60);
  examine::ListedTrial trial = {"more_workers",         "workers", "before", "before",
                                "more_workers.without", "",        ""};
  trial.run = "more_workers.2";
  trial.measured = {2.4, 0.9, 2.6};
  trial.outcome = to_string(Outcome::kNotKept);
  ASSERT_TRUE(examine::write_trial_list(runs_, {trial}));
  const auto job = read(runs_);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->verification.size(), 1U);
  const Verification& tried = job->verification.front();
  EXPECT_EQ(tried.measured.speedup, 2.4);
  EXPECT_EQ(tried.measured.low, 0.9);
  EXPECT_EQ(tried.outcome, Outcome::kNotKept) << "by its runs alone it would be";
  EXPECT_NEAR(tried.after.step_us, 40'000, 1e-6);
  EXPECT_EQ(tried.run_dir, examine::trial_dir(runs_, "more_workers.2"));
}

TEST_F(TrialFolder, FewStepsPredictNothingAndSayWhy) {
  write_run(runs_, 5, 60);  // the first is warm-up
  const auto job = read(runs_);
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->before.predictions.gains.empty());
  ASSERT_FALSE(job->before.remarks.empty());
  EXPECT_NE(job->before.remarks.back().find("at least 5 training steps"), std::string::npos)
      << job->before.remarks.back();
}

TEST_F(TrialFolder, WhatIsNoRunIsAnError) { EXPECT_FALSE(read(runs_)); }

}  // namespace
}  // namespace unstarve::trial
