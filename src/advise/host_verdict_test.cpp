#include "advise/host_verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advise/predict_gains.h"
#include "diagnose/diagnose.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::advise {
namespace {

using diagnose::Diagnosis;
using diagnose::test::starving_run;

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run of 30 steps without a GPU's records, on a device that torch calls `kind`.
struct HostRun {
  explicit HostRun(std::int64_t wait_ms, const std::string& kind)
      : timeline(starving_run(30, wait_ms, 0)) {
    timeline.run_id = "r1";
    timeline.training_devices.push_back({.process = 7, .kind = kind, .build = {}});
    trace::LoaderConfig loader;
    loader.process = 7;
    timeline.loaders.push_back(loader);
    facts.loader_place = "train.py:41";
    facts.device.kind = kind;
  }

  Advice advise(const std::map<std::string, predict::Speedup>& gains = {}) const {
    return advise::advise(diagnose::diagnose(timeline, {}), facts, {gains, {}});
  }

  trace::Timeline timeline;
  JobFacts facts;
};

TEST(HostVerdict, GoodNewsIsAVerdict) {
  const Advice advice = HostRun(2, "cpu").advise();
  EXPECT_EQ(advice.verdict,
            "Not input-bound: waiting for the data loader at train.py:41 takes 2.0 % of a step; "
            "98 % is the training itself, on the CPU.");
  EXPECT_FALSE(advice.leading_finding) << "there is nothing to do";
  EXPECT_FALSE(advice.next_remedy);
}

TEST(HostVerdict, ATraceOfAnotherDeviceIsNotToldToRecordCuda) {
  HostRun traced(2, "mtia");
  traced.timeline.input = trace::InputKind::kKineto;
  const Advice advice = traced.advise();
  ASSERT_EQ(advice.not_observed.size(), 1U);
  EXPECT_EQ(advice.not_observed[0].why,
            "this job trains on PyTorch's \"mtia\", of which no records are kept");
  EXPECT_FALSE(says(advice.not_observed[0].how, "CUDA"));
}

TEST(HostVerdict, OfAGpuThatIsNotSeenNothingIsClaimed) {
  const Advice fed = HostRun(2, "cuda").advise();
  EXPECT_TRUE(says(fed.verdict, "what the GPU does meanwhile was not observed"));
  const Advice starved = HostRun(60, "cuda").advise();
  EXPECT_TRUE(says(starved.verdict, "Input-bound: 60 % of a step waits for the data loader"));
  EXPECT_TRUE(says(starved.verdict, "How much of that a GPU idles was not observed."));
  ASSERT_TRUE(starved.leading_remedy);
  EXPECT_EQ(starved.leading_remedy->id, "more_workers");
}

TEST(HostVerdict, SaysWhatIsMissing) {
  HostRun run(60, "cpu");
  run.timeline.loader_waits.clear();
  EXPECT_TRUE(says(run.advise().verdict, "In 29 steps no wait for a data loader of torch"));
  run.timeline.steps.clear();
  EXPECT_TRUE(says(run.advise().verdict, "No training step was seen"));
}

TEST(HostVerdict, WithoutALoaderLooksSayWhereTheTimeGoes) {
  HostRun run(60, "cpu");
  run.timeline.loader_waits.clear();
  Diagnosis diagnosis = diagnose::diagnose(run.timeline, {});
  const diagnose::CodeShare load = {.place = "train.py:9", .call = "load(i)", .share = 0.62};
  const diagnose::CodeShare train = {
      .place = "train.py:12", .call = "loss.backward()", .share = 0.3, .trains = true};
  const auto verdict = [&](std::vector<diagnose::CodeShare> parts, std::int64_t looks) {
    diagnosis.own_code = {.parts = std::move(parts), .looks = looks};
    return write_host_verdict(diagnosis, {}, run.facts);
  };
  EXPECT_EQ(verdict({load, train}, 100),
            "Held up by code of its own: 62 % of the training thread's time goes to train.py:9 "
            "(`load(i)`), which is not the training itself. In 29 steps no wait for a data loader "
            "of torch was seen.");
  EXPECT_TRUE(says(verdict({load, train}, 10), "cannot be said")) << "too few looks";
  EXPECT_TRUE(says(verdict({train}, 100), "cannot be said")) << "where is the rest?";
  diagnose::CodeShare most = train;
  most.share = 0.9;
  EXPECT_TRUE(says(verdict({most}, 100), "Not held up by loading: 90 % of the training"));
}

TEST(HostVerdict, SaysForHowLongTheThreadWaitsForTheGpu) {
  HostRun run(2, "cuda");
  for (const trace::Step& step : run.timeline.steps) {
    trace::HostCall call;
    call.kind = trace::HostCallKind::kSync;
    call.process = call.thread = 7;
    call.start_ns = step.when.end_ns - 71'000'000;
    call.end_ns = step.when.end_ns;
    run.timeline.host_calls.push_back(call);
  }
  EXPECT_TRUE(says(run.advise().verdict, "for 71 % of it the training thread waits for the"));
}

// Worker processes take the cores that the training computes on.
TEST(HostVerdict, OnTheCpuOnlyASureGainIsPromised) {
  const HostRun run(60, "cpu");
  const std::string promise = "no gain is promised";
  EXPECT_TRUE(says(run.advise().verdict, promise));
  const Advice unsure = run.advise({{"more_workers", {1.2, 0.97, 1.4}}});
  EXPECT_TRUE(says(unsure.verdict, promise)) << unsure.verdict;
  EXPECT_FALSE(unsure.leading_remedy);
  EXPECT_FALSE(unsure.next_remedy);
  const Advice sure = run.advise({{"more_workers", {1.2, 1.01, 1.4}}});
  ASSERT_TRUE(sure.leading_remedy);
  EXPECT_EQ(sure.leading_remedy->id, "more_workers");
  EXPECT_FALSE(says(sure.verdict, promise)) << sure.verdict;
  EXPECT_TRUE(says(sure.verdict, "predicted 1.20x faster, 1.01 to 1.40")) << sure.verdict;
}

/// As the driver records a small thing that a job keeps on its GPU.
void add_one_operation(trace::Timeline& timeline) {
  trace::DeviceOp op;
  op.start_ns = 500'000'000;
  op.end_ns = op.start_ns + 1'500;
  timeline.device_ops.push_back(op);
}

TEST(HostVerdict, SaysThatTheModelIsOnTheCpuBesideAGpuThatRanSomething) {
  HostRun run(2, "cpu");
  add_one_operation(run.timeline);
  const Advice advice = run.advise();
  EXPECT_EQ(
      advice.verdict,
      "Not input-bound: waiting for the data loader at train.py:41 takes 2.0 % of a step; "
      "98 % is the training itself, on the CPU. The model is on the CPU; the GPU runs next to "
      "nothing (1 operation, busy for 1.50 us of 2.90 s).");
  ASSERT_EQ(advice.not_observed.size(), 1U);
  EXPECT_EQ(advice.not_observed[0].what, "Training on the GPU");
  EXPECT_TRUE(says(advice.not_observed[0].how, ".to(\"cuda\")"));
}

TEST(HostVerdict, SaysThatAGpuTakesNoPartInWhatATraceHolds) {
  HostRun run(60, "");
  run.timeline.input = trace::InputKind::kKineto;
  run.timeline.training_devices.clear();
  add_one_operation(run.timeline);
  std::string verdict = run.advise().verdict;
  EXPECT_TRUE(says(verdict, "Input-bound: ")) << verdict;
  EXPECT_TRUE(says(verdict, "The GPU takes no part in the training (1 operation")) << verdict;
  EXPECT_FALSE(says(verdict, "was not observed")) << verdict;
  run.timeline.loader_waits.clear();
  verdict = run.advise().verdict;
  EXPECT_TRUE(says(verdict, "The GPU takes no part in the training")) << verdict;
  EXPECT_FALSE(says(verdict, "No GPU activity")) << verdict;
}

TEST(HostVerdict, OfTooLittleSaysWhatThereIs) {
  Diagnosis diagnosis;
  diagnosis.set_aside = {job::AsideReason::kTooLittle, 1, 1'500, 130'000'000};
  EXPECT_EQ(write_host_verdict(diagnosis, {}, {}),
            "Too little is recorded to say why the GPU idles: 1 operation, busy for 1.50 us of "
            "130 ms, and no step boundary.");
  EXPECT_EQ(what_was_not_observed(diagnosis, {}).at(0).what, "Enough GPU activity");
}

/// What gains are predicted from: a job that loads for 50 of 100 ms, on `cpus` CPUs of which it
/// uses `cores` in the mean, and others `theirs`.
struct Loading {
  double cores = 1;
  double cpus = 2;
  double theirs = 0;
  std::int64_t passes = 1;
  std::size_t steps = 30;
  Reading<double> core_scaling = {};
  bool by_threads_of_tokenizers = false;
};

Predictions predictions_of(const Loading& loading) {
  HostRun run(50, "cpu");
  run.timeline.steps.resize(loading.steps);
  run.timeline.loader_waits.resize(loading.steps);
  run.timeline.loaders.clear();
  for (std::int64_t i = 0; i < loading.passes; ++i) {
    trace::LoaderConfig loader;
    loader.process = 7;
    loader.id = 1;
    loader.made_ns = 1 + i;
    run.timeline.loaders.push_back(loader);
  }
  for (trace::LoaderWait& wait : run.timeline.loader_waits) wait.loader_id = 1;
  for (const trace::Step& step : run.timeline.steps) {
    trace::Fetch fetch;
    fetch.process = fetch.thread = 7;
    fetch.loader_id = 1;
    fetch.when = {step.when.start_ns, step.when.start_ns + 50'000'000};
    fetch.cpu_ns = 50'000'000;
    run.timeline.fetches.push_back(fetch);
  }
  diagnose::HostSignals host;
  host.effective_cpus = loading.cpus;
  host.job_cpu_cores = loading.cores;
  host.host_cpu_cores = loading.cores + loading.theirs;
  const job::JobView job(run.timeline);
  const diagnose::PartitionedJob partitioned(job);
  Diagnosis found = diagnose::diagnose(partitioned, host);
  if (loading.by_threads_of_tokenizers) {
    found.signals.fetch_tokenizing_ratio = 0.9;
    found.signals.fetch_cpu_ratio = 0.4;
  }
  Measured measured;
  measured.calibration.core_scaling = loading.core_scaling;
  const auto basis = prediction_basis(partitioned, found, measured);
  EXPECT_TRUE(basis) << basis.error().message;
  return predict_gains(found, run.facts, *basis);
}

predict::Speedup gain_of_workers(double cores) {
  return predictions_of({.cores = cores}).gains.at("more_workers");
}

TEST(HostVerdict, WhatLoadsCompetesWithWhatTrains) {
  const predict::Speedup beside_one_thread = gain_of_workers(1);
  EXPECT_GT(beside_one_thread.low, 1.25);
  EXPECT_LT(beside_one_thread.high, 2.2);
  // Two threads that train leave no core to load on: at best all are busy all of the time, in a run
  // that may be 7 % faster.
  const predict::Speedup beside_two = gain_of_workers(1.5);
  EXPECT_LE(beside_two.low, 1);
  EXPECT_NEAR(beside_two.high, 1.07 * 2 / 1.5, 0.01);
}

TEST(HostVerdict, WholeCoresGainMoreThanThreadsOfOne) {
  const auto gain = [](double scaling) {
    return predictions_of({.core_scaling = scaling}).gains.at("more_workers");
  };
  const predict::Speedup whole = gain(1);
  const predict::Speedup halves = gain(0.25);
  const predict::Speedup unknown = gain_of_workers(1);
  EXPECT_GT(whole.low, halves.high);
  EXPECT_GT(whole.speedup, unknown.speedup);
  EXPECT_LT(whole.high / whole.low, unknown.high / unknown.low);
}

TEST(Gains, WhereAllCpusAreTakenAnotherRunDiffersMore) {
  const auto width = [](double cpus) {
    const predict::Speedup gain =
        predictions_of({.cpus = cpus, .core_scaling = 1}).gains.at("more_workers");
    return gain.high / gain.low;
  };
  EXPECT_GT(width(2), 1.07 * width(16));
}

bool says(const Predictions& predictions, const std::string& part) {
  return std::any_of(predictions.notes.begin(), predictions.notes.end(),
                     [&part](const std::string& note) { return says(note, part); });
}

TEST(Gains, OfFewStepsAreWiderAndSaySo) {
  const Predictions many = predictions_of({.steps = 30});
  const Predictions few = predictions_of({.steps = 7});  // one of them is warm-up
  EXPECT_FALSE(says(many, "rest on"));
  EXPECT_TRUE(says(few, "rest on 6 steps only"));
  const predict::Speedup& wide = few.gains.at("more_workers");
  const predict::Speedup& narrow = many.gains.at("more_workers");
  EXPECT_GT(wide.high / wide.low, 1.1 * narrow.high / narrow.low);
}

TEST(Gains, BesideNeighboursAreWiderAndSaySo) {
  const Predictions alone = predictions_of({.cores = 1, .cpus = 4});
  const Predictions beside = predictions_of({.cores = 1, .cpus = 4, .theirs = 2.9});
  EXPECT_FALSE(says(alone, "other processes"));
  EXPECT_EQ(beside.gains.count("more_workers"), 0U) << "workers would get no CPU";
  EXPECT_EQ(alone.gains.count("more_workers"), 1U);
}

TEST(Gains, OfWorkersThatWouldLackALibrarysThreadsAreUnknown) {
  EXPECT_EQ(predictions_of({.by_threads_of_tokenizers = true}).gains.count("more_workers"), 0U);
}

TEST(Gains, OfWorkersThatStartInEachPassAreLess) {
  const predict::Speedup once = predictions_of({}).gains.at("more_workers");
  const predict::Speedup often = predictions_of({.passes = 15}).gains.at("more_workers");
  EXPECT_GT(once.low, 1.25);
  EXPECT_LT(often.low, 1) << "two steps of 100 ms for each start of two workers";
}

TEST(HostVerdict, PartlyIsBetweenTheTwo) {
  EXPECT_TRUE(says(HostRun(12, "cpu").advise().verdict, "Partly input-bound: 12 % of a step"));
}

TEST(NotObserved, SaysWhyAndHow) {
  const auto why = [](const std::string& kind) { return HostRun(2, kind).advise().not_observed; };
  ASSERT_EQ(why("cpu").size(), 1U);
  EXPECT_EQ(why("cpu")[0].what, "GPU activity");
  EXPECT_EQ(why("cpu")[0].why, "this job trains on the CPU");
  EXPECT_EQ(why("cuda")[0].why, "the driver gave no records");
  EXPECT_TRUE(says(why("xla")[0].why, "PyTorch's \"xla\""));
  EXPECT_EQ(why("")[0].why, "no CUDA in this job");

  HostRun skipped(2, "cuda");
  skipped.facts.device.unwatched = "CUDA_INJECTION64_PATH is set";
  EXPECT_EQ(skipped.advise().not_observed[0].why, "CUDA_INJECTION64_PATH is set");
  HostRun rocm(2, "cuda");
  rocm.facts.device.build = "rocm";
  EXPECT_EQ(rocm.advise().not_observed[0].why, "ROCm gave no records");
  rocm.timeline.steps.resize(8);
  EXPECT_EQ(rocm.advise().not_observed[0].why,
            "the job ended before its AMD GPU was watched, from the 10th step on");
  for (const char* kind : {"cpu", "cuda", "xla", ""}) EXPECT_FALSE(why(kind)[0].how.empty());
}

TEST(NotObserved, IsEmptyWhereAGpuWasSeen) {
  EXPECT_TRUE(advise(diagnose::diagnose(starving_run(5, 60, 40), {}), {}, {}).not_observed.empty());
}

TEST(HostVerdict, AGpuThatIsLeftAloneIsNamed) {
  HostRun run(2, "cpu");
  diagnose::HostSignals host;
  host.gpu_utilisation.assign(20, 0.0);
  const std::string verdict =
      advise::advise(diagnose::diagnose(run.timeline, host), run.facts, {}).verdict;
  EXPECT_TRUE(says(verdict, "on the CPU, although this machine has a GPU")) << verdict;
}

TEST(HostVerdict, OfALogSaysWhichGpuItIs) {
  trace::Timeline timeline;
  timeline.input = trace::InputKind::kCsv;
  diagnose::HostSignals host;
  host.gpu_utilisation.assign(10, 0.02);
  host.logged = {.index = 1, .of = 2};
  EXPECT_TRUE(says(write_host_verdict(diagnose::diagnose(timeline, host), {}, {}),
                   "GPU 1, of 2 the one that is used least, runs something 2.0 % of the time"));
  host.logged = {.index = 0, .of = 1};
  EXPECT_TRUE(says(write_host_verdict(diagnose::diagnose(timeline, host), {}, {}),
                   "The GPU runs something 2.0 % of the time"));
}

}  // namespace
}  // namespace unstarve::advise
