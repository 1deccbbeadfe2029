#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "advise/catalogue.h"
#include "predict/what_if.h"

namespace unstarve::advise {
namespace {

using testing::HasSubstr;

constexpr double kMs = 1e6;

std::optional<Remedy> offered(std::string_view id, const diagnose::Signals& signals,
                              const JobFacts& job = {}) {
  for (Remedy& remedy : offers({signals, job}, {"input_wait", "collate_ipc"})) {
    if (remedy.id == id) return std::move(remedy);
  }
  return std::nullopt;
}

/// Batches of 32 samples of 2 ms each.
diagnose::Signals slow_samples() {
  diagnose::Signals signals;
  signals.fetch_ns_median = 64 * kMs;
  signals.batch_size = 32;
  return signals;
}

JobFacts map_style(Reading<bool> draws) {
  JobFacts job;
  job.loader_place = "train.py:41";
  job.data.class_name = "data.Reviews";
  job.data.draws = draws;
  return job;
}

diagnose::Signals opened_images() {
  diagnose::Signals signals;
  signals.num_workers = 2;
  signals.fetch_opened_images_ratio = 0.9;
  return signals;
}

TEST(UnstarveImages, AreForDataSetsThatOpenTheirOwn) {
  const JobFacts job = map_style(true);
  const auto remedy = offered("unstarve_images", opened_images(), job);
  ASSERT_TRUE(remedy);
  EXPECT_THAT(remedy->how, HasSubstr("at train.py:41"));
  EXPECT_THAT(remedy->how, HasSubstr("90 % of making a batch"));
  JobFacts folder = job;
  folder.data.class_name = folder.data.files_class = "torchvision.datasets.folder.ImageFolder";
  EXPECT_FALSE(offered("unstarve_images", opened_images(), folder)) << "its threads load those";
  diagnose::Signals without = opened_images();
  without.num_workers = 0;
  EXPECT_FALSE(offered("unstarve_images", without, job)) << "nothing changes in the job's process";
  diagnose::Signals little = opened_images();
  little.fetch_opened_images_ratio = 0.2;
  EXPECT_FALSE(offered("unstarve_images", little, job));
}

TEST(UnstarveImages, KeepTheWorkersThatTheLoaderHas) {
  const auto remedy = offered("unstarve_images", opened_images(), map_style(true));
  const auto applied = find_entry("unstarve_images")->apply(*remedy);
  ASSERT_TRUE(applied && applied->is_drop_in());
  EXPECT_FALSE(applied->has_threads());
  Application workers;
  workers.fix = {{"num_workers", "4"}};
  const auto expected =
      std::map<std::string, std::string>{{"loader", "\"workers\""}, {"num_workers", "4"}};
  EXPECT_EQ(combined(workers, *applied).fix, expected);
  EXPECT_EQ(combined(*applied, workers).fix, expected);
  EXPECT_TRUE(combined(*applied, workers).needs_package);
}

TEST(SampleCache, IsForSamplesThatDrawNoNumbersAndTakeLong) {
  const auto remedy = offered("sample_cache", slow_samples(), map_style(false));
  ASSERT_TRUE(remedy);
  EXPECT_THAT(remedy->how, HasSubstr("at train.py:41 `unstarve.cached(dataset)`"));
  EXPECT_FALSE(offered("sample_cache", slow_samples(), map_style(true)));
  EXPECT_FALSE(offered("sample_cache", slow_samples(), map_style(WhyAbsent::kNotObserved)));
  JobFacts stream = map_style(false);
  stream.data.is_stream = true;
  EXPECT_FALSE(offered("sample_cache", slow_samples(), stream));
  JobFacts cached = map_style(false);
  cached.data.class_name = "unstarve.sample_cache.dataset.CachedDataset";
  EXPECT_FALSE(offered("sample_cache", slow_samples(), cached));
  diagnose::Signals quick = slow_samples();
  quick.fetch_ns_median = 20 * kMs;
  EXPECT_TRUE(offered("sample_cache", quick, map_style(false))) << "0.6 ms each";
  quick.fetch_ns_median = 11 * kMs;
  EXPECT_FALSE(offered("sample_cache", quick, map_style(false))) << "a third of a millisecond each";
}

TEST(SampleCache, IsTriedWhereATrialReachesTheSecondPass) {
  const auto application = [](std::int64_t passes) {
    JobFacts job = map_style(false);
    job.passes = passes;
    return find_entry("sample_cache")->apply(*offered("sample_cache", slow_samples(), job));
  };
  EXPECT_FALSE(application(1));
  ASSERT_TRUE(application(2));
  EXPECT_TRUE(application(2)->keeps_samples());
  EXPECT_FALSE(application(2)->is_drop_in());
}

/// Of each step of 100 ms a loader without workers fetches for 80.
PredictionBasis fetching_itself() {
  PredictionBasis basis;
  predict::MeasuredStep step;
  step.step_s = 0.1;
  step.wait_s = step.fetch_cpu_s = 0.08;
  step.samples = 32;
  basis.pipeline.steps.assign(50, step);
  basis.pipeline.loader_known = basis.pipeline.fetches_seen = true;
  return basis;
}

TEST(SampleCache, GainsAllButServing) {
  diagnose::Signals signals = slow_samples();
  signals.collate_ratio = 0.1;
  const auto remedy = offered("sample_cache", signals, map_style(false));
  ASSERT_TRUE(remedy);
  const PredictionBasis basis = fetching_itself();
  const auto edit = find_entry("sample_cache")->model(*remedy, basis);
  ASSERT_TRUE(edit);
  // 8 ms to collate, 1.6 to 9.6 to serve, in the place of 80.
  EXPECT_NEAR(edit->fetch_scale.low, 0.12, 1e-9);
  EXPECT_NEAR(edit->fetch_scale.high, 0.22, 1e-9);
  const auto gain = predict::predict_speedup(basis.pipeline, *edit, {});
  ASSERT_TRUE(gain);
  EXPECT_GT(gain->low, 2.2);
  EXPECT_LT(gain->high, 3.4);
}

TEST(MoreWorkers, ThatSleepNeedNoCpuThatOthersHave) {
  diagnose::Signals signals = slow_samples();
  signals.num_workers = 1;
  signals.effective_cpus = 2;
  signals.neighbour_cores = 1.9;
  signals.job_cpu_cores = 0.1;
  signals.cpu_waiting_threads = 0.2;
  signals.step_ns_median = 80 * kMs;
  signals.wait_ns_median = 76 * kMs;
  EXPECT_FALSE(offered("more_workers", signals, map_style(true)));
  signals.fetch_sleep_call_ratio = 0.9;
  const auto remedy = offered("more_workers", signals, map_style(true));
  ASSERT_TRUE(remedy);
  EXPECT_EQ(remedy->values.at("num_workers"), 2);
}

TEST(DividedStream, GainsAsThatManyWorkers) {
  diagnose::Signals signals = slow_samples();
  signals.num_workers = 0;
  signals.effective_cpus = 4;
  signals.step_ns_median = 80 * kMs;
  signals.wait_ns_median = 64 * kMs;
  JobFacts stream = map_style({});
  stream.data.is_stream = true;
  const auto divided = offered("divided_stream", signals, stream);
  ASSERT_TRUE(divided);
  EXPECT_THAT(divided->how, HasSubstr("before samples are made of them"));
  PredictionBasis basis = fetching_itself();
  basis.machine.cores = 4;
  const auto edit = find_entry("divided_stream")->model(*divided, basis);
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->loader.workers, divided->values.at("num_workers"));
  EXPECT_EQ(edit->loader.batches_ahead, 2 * divided->values.at("num_workers")) << "as torch has it";
  basis.pipeline.workers = 2;
  EXPECT_FALSE(find_entry("divided_stream")->model(*divided, basis)) << "they give the same";
}

/// Two workers make a batch in 0.4 ms, which is waited for 1.1.
diagnose::Signals handed_over() {
  diagnose::Signals signals;
  signals.num_workers = 2;
  signals.fetch_ns_median = 0.4 * kMs;
  signals.wait_ns_median = 1.1 * kMs;
  signals.batch_size = 8;
  return signals;
}

TEST(NoWorkers, AreBetterWhereHandingOverTakesLongerThanMaking) {
  const auto remedy = offered("no_workers", handed_over(), map_style({}));
  ASSERT_TRUE(remedy);
  EXPECT_THAT(remedy->how, HasSubstr("num_workers=0 instead of 2: a batch takes 400 us to make"));
  const auto apply = find_entry("no_workers")->apply(*remedy);
  ASSERT_TRUE(apply);
  EXPECT_EQ(apply->fix.at("num_workers"), "0");
  diagnose::Signals late = handed_over();
  late.fetch_ns_median = 1.2 * kMs;
  EXPECT_FALSE(offered("no_workers", late)) << "it waits for batches to be made";
  diagnose::Signals ordered = handed_over();
  ordered.order_ratio = 0.6;
  EXPECT_FALSE(offered("no_workers", ordered)) << "the training thread draws the indices itself";
  diagnose::Signals none = handed_over();
  none.num_workers = 0;
  EXPECT_FALSE(offered("no_workers", none));
  JobFacts stream = map_style({});
  stream.data.is_stream = true;
  EXPECT_FALSE(offered("no_workers", handed_over(), stream));
}

TEST(NoWorkers, TakeTheMakingIntoTheStep) {
  PredictionBasis basis;
  predict::MeasuredStep step;
  step.step_s = 1.6e-3;
  step.wait_s = 1.1e-3;
  step.fetch_cpu_s = 0.4e-3;
  step.samples = 8;
  basis.pipeline.steps.assign(50, step);
  basis.pipeline.loader_known = basis.pipeline.fetches_seen = true;
  basis.pipeline.workers = 2;
  basis.pipeline.batches_ahead = 4;
  const auto edit = find_entry("no_workers")->model({}, basis);
  ASSERT_TRUE(edit);
  predict::WhatIfOptions options;
  options.machine.host_slowdown = {1, 1};
  const auto gain = predict::predict_speedup(basis.pipeline, *edit, options);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->speedup, 1.6 / 0.9, 0.15);
}

TEST(BatchByIndex, IsForSamplesThatAreNextToNothing) {
  EXPECT_TRUE(offered("batch_by_index", handed_over()));
  EXPECT_FALSE(offered("batch_by_index", slow_samples()));
}

}  // namespace
}  // namespace unstarve::advise
