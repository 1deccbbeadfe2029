// A run that was thinned out has to be judged as the same run would be that was not.

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "base/testing/test_folder.h"
#include "diagnose/diagnose.h"
#include "diagnose/signals/run_signals.h"
#include "job/job_view.h"
#include "predict/measurements.h"
#include "predict/verification.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"
#include "trace/run_writer.h"
#include "trace/testing/long_job.h"

namespace unstarve {
namespace {

// Of all time; what is drawn by lot differs from the whole by chance.
constexpr double kShareTolerance = 0.01;

/// A run as it is judged.
class JudgedRun {
 public:
  JudgedRun(const std::string& dir, std::int64_t rows_max) {
    trace::RunInfo info;
    info.started_ns = 5'000'000'000'000;
    trace::RunWriterOptions options;
    options.thinning.rows_max = rows_max;
    auto writer = trace::RunWriter::create(dir, info, options);
    EXPECT_TRUE(writer) << writer.error().message;
    trace::testing::LongJobShape shape;
    shape.hours = 2;
    shape.kernels = 12;
    shape.steps_per_pass = 400;
    trace::testing::LongJob job(**writer, shape);
    EXPECT_TRUE(job.write());
    EXPECT_TRUE((*writer)->finish(job.now_ns(), 0));
    wrote = job.totals();
    auto loaded = trace::load_run(dir);
    EXPECT_TRUE(loaded) << loaded.error().message;
    timeline = *std::move(loaded);
    view = std::make_unique<job::JobView>(timeline);
    const auto measured_run = predict::measure_run(*view, 0);
    EXPECT_TRUE(measured_run) << measured_run.error().message;
    measured = *measured_run;
    const auto reader = trace::RunReader::open(dir);
    counted = *reader->step_count();
    const diagnose::HostSignals host = diagnose::read_host_signals(*reader, measured.span);
    diagnosis = diagnose::diagnose(timeline, host);
    const auto model = predict::measure_pipeline(*view, 0, {});
    EXPECT_TRUE(model) << model.error().message;
    pipeline = *model;
  }

  trace::testing::LongJobTotals wrote;
  std::int64_t counted = 0;
  trace::Timeline timeline;
  std::unique_ptr<job::JobView> view;
  predict::RunMeasurement measured;
  diagnose::Diagnosis diagnosis;
  predict::PipelineMeasurements pipeline;
};

class LongRunVerdict : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const TestFolder folder;
    whole_ = new JudgedRun(folder.path() + "/whole", std::numeric_limits<std::int64_t>::max());
    thinned_ = new JudgedRun(folder.path() + "/thinned", 250'000);
  }
  static void TearDownTestSuite() {
    delete whole_;
    delete thinned_;
  }

  static JudgedRun* whole_;
  static JudgedRun* thinned_;
};

JudgedRun* LongRunVerdict::whole_ = nullptr;
JudgedRun* LongRunVerdict::thinned_ = nullptr;

TEST_F(LongRunVerdict, IsOfARunThatWasThinnedOut) {
  EXPECT_EQ(whole_->timeline.thinning.level, 0);
  EXPECT_GE(thinned_->timeline.thinning.level, 3);
  EXPECT_LT(thinned_->timeline.steps.size(), whole_->timeline.steps.size() / 4);
}

TEST_F(LongRunVerdict, NamesTheSameCauses) {
  const auto& whole = whole_->diagnosis.findings;
  const auto& thinned = thinned_->diagnosis.findings;
  ASSERT_EQ(thinned.size(), whole.size());
  ASSERT_FALSE(whole.empty());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(thinned[i].cause, whole[i].cause);
    EXPECT_EQ(thinned[i].detail, whole[i].detail);
    EXPECT_EQ(thinned[i].confidence, whole[i].confidence);
    EXPECT_NEAR(thinned[i].share, whole[i].share, kShareTolerance) << whole[i].cause;
  }
}

TEST_F(LongRunVerdict, CountsStepsAndSamplesExactly) {
  const diagnose::StepSummary& whole = whole_->diagnosis.steps;
  const diagnose::StepSummary& thinned = thinned_->diagnosis.steps;
  EXPECT_EQ(thinned.count, whole.count);
  EXPECT_EQ(whole_->counted, whole_->wrote.steps);
  EXPECT_EQ(thinned_->counted, whole_->wrote.steps);
  EXPECT_EQ(whole.count, whole_->wrote.steps - 1);  // the first is warm-up
  EXPECT_NEAR(*thinned.mean_us, *whole.mean_us, 1e-6 * *whole.mean_us);
  EXPECT_NEAR(*thinned.median_us, *whole.median_us, 0.02 * *whole.median_us);
  EXPECT_NEAR(*thinned.samples_per_s, *whole.samples_per_s, 1e-6 * *whole.samples_per_s);
  EXPECT_NEAR(thinned_->measured.mean_step_s, whole_->measured.mean_step_s, 1e-9);
}

TEST_F(LongRunVerdict, DerivesTheSameSignals) {
  const diagnose::Signals& whole = whole_->diagnosis.signals;
  const diagnose::Signals& thinned = thinned_->diagnosis.signals;
  EXPECT_NEAR(*thinned.wait_ratio, *whole.wait_ratio, 1e-6);
  EXPECT_NEAR(*thinned.input_wait_ratio, *whole.input_wait_ratio, 1e-6);
  EXPECT_NEAR(*thinned.gpu_compute_ratio, *whole.gpu_compute_ratio, 1e-6);
  EXPECT_NEAR(*thinned.worker_busy_ratio, *whole.worker_busy_ratio, 1e-6);
  EXPECT_NEAR(*thinned.empty_queue_ratio, *whole.empty_queue_ratio, kShareTolerance);
  EXPECT_NEAR(*thinned.fetch_cpu_ratio, *whole.fetch_cpu_ratio, kShareTolerance);
  EXPECT_NEAR(*thinned.decode_ratio, *whole.decode_ratio, kShareTolerance);
  EXPECT_NEAR(*thinned.job_cpu_cores, *whole.job_cpu_cores, 0.01);
  EXPECT_NEAR(*thinned.gpu_utilisation_mean, *whole.gpu_utilisation_mean, kShareTolerance);
  EXPECT_NEAR(*thinned.storage_bytes_per_s, *whole.storage_bytes_per_s,
              0.02 * *whole.storage_bytes_per_s);
}

TEST_F(LongRunVerdict, PredictsFromStepsLikeThese) {
  const double whole_s = whole_->pipeline.mean_step_s();
  EXPECT_NEAR(thinned_->pipeline.mean_step_s(), whole_s, 0.05 * whole_s);
  EXPECT_NEAR(thinned_->pipeline.mean_fetch_cpu_s(), whole_->pipeline.mean_fetch_cpu_s(),
              0.05 * whole_->pipeline.mean_fetch_cpu_s());
}

}  // namespace
}  // namespace unstarve
