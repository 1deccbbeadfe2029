#include <gtest/gtest.h>

#include <cmath>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "advise/predict_gains.h"

namespace unstarve::advise {
namespace {

/// 20 steps of 100 ms with one finding that these rules spoke for.
diagnose::Diagnosis job_with(const std::string& cause, std::vector<std::string> reasons) {
  diagnose::Diagnosis job;
  job.partition = diagnose::Partition();
  job.signals.step_count = 20.0;
  job.signals.step_ns_median = 100e6;
  diagnose::Finding finding;
  finding.cause = cause;
  finding.share = 0.4;
  finding.reasons = std::move(reasons);
  job.findings = {finding};
  return job;
}

/// Nothing where it is not predicted.
/// Without what another run of the job may take more or less.
std::optional<predict::Speedup> gain_of(const diagnose::Diagnosis& job, const std::string& remedy) {
  const Predictions predictions = predict_edits(job, {}, {});
  const auto found = predictions.gains.find(remedy);
  if (found == predictions.gains.end()) return std::nullopt;
  predict::Speedup gain = found->second;
  gain.low *= 1 + kLeastOtherRun;
  gain.high /= 1 + kLeastOtherRun;
  return gain;
}

diagnose::Diagnosis waiting_job() {
  diagnose::Diagnosis job = job_with("sync", {"sync"});
  job.signals.sync_ratio = 0.4;
  job.signals.syncs_per_step = 2.0;
  job.signals.blocked_ratio = 0.5;
  return job;
}

TEST(PredictedEdits, PaddingThatGoesLeavesTheTextsAndTheHost) {
  diagnose::Diagnosis job = job_with("gpu_busy", {"gpu_busy", "padding"});
  job.signals.gpu_compute_ratio = 0.7;
  job.signals.padded_ratio = 0.8;
  job.signals.blocked_ratio = 0.6;
  auto gain = gain_of(job, "pad_to_the_longest");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1 - 0.5 * 0.56)) << "short kernels take as long";
  EXPECT_DOUBLE_EQ(gain->high, 1 / (1 - 0.56));
  job.signals.blocked_ratio = 0.3;  // the host works for 70 % of the time
  gain = gain_of(job, "pad_to_the_longest");
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.7);
}

TEST(PredictedEdits, WaitsThatGoLeaveWhatTheDeviceAndTheHostTake) {
  diagnose::Diagnosis job = waiting_job();
  auto gain = gain_of(job, "remove_sync");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1 - 0.7 * 0.4)) << "most of what the device idles for them";
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.6) << "all of it";
  job.signals.blocked_ratio = 0.25;  // three quarters of a step are the host's own work
  gain = gain_of(job, "remove_sync");
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.75);
  job.signals.blocked_ratio = 0.6;
  job.signals.launch_ratio = 0.1;  // behind a wait the host has to catch up
  EXPECT_DOUBLE_EQ(gain_of(job, "remove_sync")->high, 1 / 0.5);
  EXPECT_DOUBLE_EQ(gain_of(job, "remove_sync")->low, 1 / (1 - 0.7 * 0.4));
  job.signals.num_workers = 2.0;
  job.signals.fetch_ns_median = 190e6;  // two workers have a batch every 95 ms
  EXPECT_DOUBLE_EQ(gain_of(job, "remove_sync")->high, 1 / 0.95);
}

/// 100 looks at the training thread; of the finding's time, all were at one line.
void look_at_line(diagnose::Diagnosis& job, double share_of_own) {
  const diagnose::CodeShare line = {.place = "train.py:7", .call = "f()", .share = 1, .looks = 40};
  job.findings[0].code = {.parts = {line}, .looks = 40};
  job.own_code = {.parts = {line}, .looks = 100};
  job.own_code.parts[0].share = share_of_own;
}

TEST(PredictedEdits, TheCallGoesWithItsWait) {
  diagnose::Diagnosis job = waiting_job();
  job.signals.sync_ratio = 0.1;
  job.signals.blocked_ratio = 0.2;
  job.signals.gpu_compute_ratio = 0.6;
  const auto unknown = gain_of(job, "remove_sync");
  ASSERT_TRUE(unknown);
  EXPECT_DOUBLE_EQ(unknown->high, 1 / 0.9) << "the host's own 80 % may be anywhere else";
  look_at_line(job, 0.5);  // of which 20 % are waits: the host needs 50 % of a step without it
  const auto known = gain_of(job, "remove_sync");
  EXPECT_DOUBLE_EQ(known->high, 1 / 0.6) << "as long as the device takes";
  EXPECT_DOUBLE_EQ(known->low, 1 / (1 - 0.07 - (0.4 - 0.07) / 3));
  EXPECT_GT(known->low, unknown->high) << "that call was what a step took longest for";
}

TEST(PredictedEdits, WorkAtALineGoesBesideTheKernelsToo) {
  diagnose::Diagnosis job = job_with("launch", {"launch", "host_work"});
  job.signals.launch_ratio = 0.5;
  job.signals.long_launch_gap_ratio = 0.8;
  job.signals.gpu_compute_ratio = 0.3;
  job.signals.blocked_ratio = 0.0;
  look_at_line(job, 0.6);
  const auto gain = gain_of(job, "move_host_work");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1.07 * 0.5 + 0.005)) << "all gaps are at that line";
  const double error = 2 * std::sqrt(0.6 * 0.4 / 100);
  EXPECT_DOUBLE_EQ(gain->high, 1 / (0.93 * (0.4 - error))) << "what the host has left to do";
  // Collections are timed, and so known better.
  job.signals.collection_ratio = 1.0;
  look_at_line(job, 0.45);
  EXPECT_DOUBLE_EQ(gain_of(job, "move_host_work")->high, 1 / (0.93 * 0.5));
}

TEST(PredictedEdits, CopiesBesideKernelsTakeAsLongAsTheyDo) {
  diagnose::Diagnosis job = job_with("exposed_copy", {"exposed_copy", "no_overlap"});
  job.signals.exposed_copy_ratio = 0.4;
  auto gain = gain_of(job, "overlap_copies");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / 0.8);
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.6);
  job.signals.exposed_copy_ratio = 0.9;
  gain = gain_of(job, "overlap_copies");
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.9) << "there is little that they could lie beside";
}

TEST(PredictedEdits, NothingIsPredictedWithoutWhatItTakes) {
  diagnose::Diagnosis job = waiting_job();
  job.signals.blocked_ratio = WhyAbsent::kNotObserved;
  EXPECT_FALSE(gain_of(job, "remove_sync")) << "how long the host works is not known";
  job = waiting_job();
  job.signals.step_count = 4.0;
  EXPECT_FALSE(gain_of(job, "remove_sync")) << "of four steps";
  job.signals.step_count = 5.0;
  const auto few = gain_of(job, "remove_sync");
  EXPECT_LT(few->low, 1 / (1 - 0.7 * 0.4));
  EXPECT_GT(few->low, 1);
  EXPECT_GT(few->high, 1 / 0.6);
}

diagnose::Diagnosis launching_job() {
  diagnose::Diagnosis job = job_with("launch", {"launch"});
  job.signals.launch_ratio = 0.6;
  job.signals.long_launch_gap_ratio = 0.0;
  job.signals.launches_per_step = 800.0;
  job.signals.kernel_ns_median = 3e3;
  job.signals.gpu_compute_ratio = 0.3;
  job.signals.input_wait_ratio = 0.1;
  return job;
}

TEST(PredictedEdits, GraphsTakeHalfToAllOfTheGaps) {
  const auto gain = gain_of(launching_job(), "cuda_graphs_or_compile");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / 0.7);
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.4) << "the device computes all the time that it does not wait";
}

TEST(PredictedEdits, TwiceTheBatchTakesTheSameLaunches) {
  const diagnose::Diagnosis job = launching_job();
  const auto gain = gain_of(job, "larger_batch");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 2 / 1.4) << "kernels twice as long, batches twice as long in loading";
  EXPECT_DOUBLE_EQ(gain->high, 2 / (1.1 - 0.04)) << "kernels that do not fill the device";
  // It gains most, and is not what is named first: it changes what is trained.
  const Advice advice = advise(job, {}, predict_edits(job, {}, {}));
  ASSERT_TRUE(advice.leading_remedy);
  EXPECT_EQ(advice.leading_remedy->id, "cuda_graphs_or_compile");
}

TEST(PredictedEdits, ABatchIsNoLargerThanMemorySurelyHolds) {
  diagnose::Diagnosis job = launching_job();
  job.signals.batch_size = 16.0;
  const auto size = [&job]() -> std::int64_t {
    const Advice advice = advise(job, {}, {});
    const Remedy* const remedy = advice.find("larger_batch");
    return remedy == nullptr ? 0 : remedy->values.at("batch_size");
  };
  for (const auto& [used, fits] :
       {std::pair{0.1, 32}, {0.475, 32}, {0.6, 25}, {0.76, 20}, {0.85, 0}}) {
    job.signals.gpu_memory_used_ratio = used;
    EXPECT_EQ(size(), fits) << used;
  }
  job.signals.gpu_memory_used_ratio = 0.76;
  const auto gain = gain_of(job, "larger_batch");
  ASSERT_TRUE(gain);
  EXPECT_LT(gain->high, 1.3) << "a quarter more samples a step";
  job.signals.gpu_memory_used_ratio = 0.1;
  job.signals.batch_size = 9e18;  // a run that somebody sent
  EXPECT_EQ(size(), INT64_MAX);
}

TEST(PredictedEdits, HostWorkGoesWithItsGaps) {
  diagnose::Diagnosis job = job_with("launch", {"launch", "host_work"});
  job.signals.launch_ratio = 0.5;
  job.signals.long_launch_gap_ratio = 0.8;
  const auto gain = gain_of(job, "move_host_work");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1 - 0.7 * 0.4));
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.5) << "with it the gaps that it makes for others";
}

TEST(PredictedEdits, PinnedCopiesAreFasterOrBesideKernels) {
  diagnose::Diagnosis job = job_with("exposed_copy", {"exposed_copy", "pageable"});
  job.signals.exposed_copy_ratio = 0.4;
  job.signals.pageable_ratio = 1.0;
  auto gain = gain_of(job, "pin_memory");
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1 / 0.88);
  EXPECT_DOUBLE_EQ(gain->high, 1 / 0.6);
  // Without workers, the training thread copies 60 MB a step to page-locked memory.
  job.signals.num_workers = 0.0;
  job.signals.h2d_bytes_per_step = 60e6;
  gain = gain_of(job, "pin_memory");
  EXPECT_DOUBLE_EQ(gain->low, 1 / (0.88 + 0.2)) << "it is slower then";
  EXPECT_DOUBLE_EQ(gain->high, 1 / (0.6 + 0.05));
  EXPECT_EQ(advise(job, {}, predict_edits(job, {}, {})).find("pin_memory"), nullptr);
}

TEST(PredictedEdits, WorkersThatLiveOnStartOnce) {
  diagnose::Diagnosis job = job_with("input_wait", {"input_wait", "loader_startup"});
  job.signals.wait_ns_mean = 50e6;  // of 100 ms
  job.signals.wait_ratio = 0.5;
  job.signals.loader_starts = 4.0;
  job.signals.loader_start_ns = 150e6;  // of 2 s
  job.signals.num_workers = 2.0;
  auto gain = gain_of(job, "persistent_workers");
  ASSERT_TRUE(gain);
  const double ended = 4.0 * 2 / 2000;  // workers a millisecond of the job
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1 - 0.75 * (0.3 + 2 * ended)));
  EXPECT_DOUBLE_EQ(gain->high, 1 / (1 - 1.3 * 0.3 - 8 * ended));
  job.signals.loader_end_ns = 15e6;
  gain = gain_of(job, "persistent_workers");
  EXPECT_DOUBLE_EQ(gain->low, 1 / (1 - 0.75 * 1.1 * 0.3)) << "their ends were seen";
  EXPECT_DOUBLE_EQ(gain->high, 1 / (1 - (1.3 * 0.3 + 1.1 * 0.03)));
  job.signals.fetch_ns_median = 160e6;
  job.signals.step_ns_median = 50e6;  // of most steps; a batch takes both workers 80 of 100 ms
  EXPECT_DOUBLE_EQ(gain_of(job, "persistent_workers")->high, 1 / 0.8);
  const Remedy remedy = advise(job, {}, {}).for_findings[0][0];
  EXPECT_EQ(find_entry("persistent_workers")->apply(remedy)->environment()[0].second,
            R"({"persistent_workers": true})");
}

TEST(Application, OfKeptSamplesIsToldOfTheScriptThatKeepsThemToo) {
  const Application kept = {
      .fix = {{"cache", "true"}, {"num_workers", "4"}}, .change = "both", .needs_package = true};
  EXPECT_EQ(kept.as_written().environment()[0].second, R"({"cache": true})");
  EXPECT_TRUE(kept.as_written().needs_package);
  const Application workers = {.fix = {{"num_workers", "4"}}};
  EXPECT_TRUE(workers.as_written().environment().empty());
}

TEST(Application, OnTopOfAnotherKeepsWhatThatChanged) {
  const Application workers = {.fix = {{"num_workers", "4"}, {"prefetch_factor", "2"}}};
  const Application pinned = {.fix = {{"pin_memory", "true"}}};
  const Application ours = {.fix = {{"loader", "\"unstarve\""}}, .needs_package = true};
  const Application both = combined(workers, pinned);
  EXPECT_EQ(both.environment()[0].second,
            R"({"num_workers": 4, "pin_memory": true, "prefetch_factor": 2})");
  const Application all = combined(both, ours);
  EXPECT_EQ(all.environment()[0].second, R"({"loader": "unstarve", "pin_memory": true})");
  EXPECT_TRUE(all.needs_package);
  const Application cache = {.fix = {{"cache", "true"}}, .needs_package = true};
  EXPECT_EQ(combined(workers, cache).environment()[0].second,
            R"({"cache": true, "num_workers": 4, "prefetch_factor": 2})");
  EXPECT_FALSE(combined(cache, ours).keeps_samples()) << "that loader has a cache of its own";
  EXPECT_TRUE(Application{}.environment().empty());
}

}  // namespace
}  // namespace unstarve::advise
