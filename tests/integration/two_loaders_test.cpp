// A job that trains without workers and evaluates with eight: whoever reads its recording has to
// speak of the same loader, whichever was iterated first.

#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "job/job_view.h"
#include "predict/measurements.h"
#include "trace/timeline_sink.h"

namespace unstarve {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPid = 40;

/// What a run's store would say of the job.
class RecordedJob {
 public:
  RecordedJob() : sink_(timeline_) { timeline_.input = trace::InputKind::kRun; }

  void iterate(std::int64_t loader, std::int64_t workers) {
    trace::LoaderRow row;
    row.pid = kPid;
    row.loader_id = loader;
    row.num_workers = workers;
    sink_.add(row);
  }
  void wait(std::int64_t loader, std::int64_t ms) {
    trace::WaitRow wait;
    wait.pid = kPid;
    wait.thread = kPid;
    wait.loader_id = loader;
    wait.when = {now_, now_ + ms * kMs};
    wait.samples = 32;
    sink_.add(wait);
    trace::FetchRow fetch;
    fetch.pid = kPid;
    fetch.loader_id = loader;
    fetch.when = wait.when;
    fetch.cpu_ns = ms * kMs;
    sink_.add(fetch);
    now_ += ms * kMs;
  }
  void step(std::int64_t ms) {
    now_ += ms * kMs;
    trace::StepRow row;
    row.pid = kPid;
    row.thread = kPid;
    row.index = steps_++;
    row.when = {step_start_, now_};
    sink_.add(row);
    step_start_ = now_;
  }
  const trace::Timeline& finish() {
    sink_.finish();
    return timeline_;
  }

 private:
  trace::Timeline timeline_;
  trace::TimelineSink sink_;
  std::int64_t now_ = 0;
  std::int64_t step_start_ = 0;
  std::int64_t steps_ = 0;
};

constexpr std::int64_t kTraining = 0;
constexpr std::int64_t kValidation = 1;

void evaluate(RecordedJob& job) {
  job.iterate(kValidation, 8);
  for (int i = 0; i < 10; ++i) job.wait(kValidation, 5);
}

void train(RecordedJob& job) {
  job.iterate(kTraining, 0);
  for (int i = 0; i < 10; ++i) {
    job.wait(kTraining, 60);
    job.step(40);
  }
}

void expect_the_training_loader(const trace::Timeline& timeline) {
  const diagnose::Signals signals = diagnose::diagnose(timeline, {}).signals;
  ASSERT_TRUE(signals.num_workers);
  EXPECT_EQ(*signals.num_workers, 0);
  EXPECT_EQ(*signals.fetch_ns_median, 60.0 * kMs);

  const job::JobView job(timeline);
  const auto pipeline = predict::measure_pipeline(job, 0, {.device_busy_ratio = 0.4});
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_TRUE(pipeline->loader_known);
  EXPECT_EQ(pipeline->workers, 0);
  for (const predict::MeasuredStep& step : pipeline->steps) {
    EXPECT_NEAR(step.step_s, 0.1, 1e-9) << "no evaluation in it";
    EXPECT_NEAR(step.wait_s, 0.06, 1e-9);
    EXPECT_NEAR(step.fetch_cpu_s, 0.06, 1e-9);
  }
}

TEST(TwoLoaders, TrainedFirst) {
  RecordedJob job;
  train(job);
  evaluate(job);
  train(job);
  evaluate(job);
  expect_the_training_loader(job.finish());
}

TEST(TwoLoaders, EvaluatedFirst) {
  RecordedJob job;
  evaluate(job);
  train(job);
  evaluate(job);
  train(job);
  expect_the_training_loader(job.finish());
}

}  // namespace
}  // namespace unstarve
