#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

TEST(Search, KeepsWhatIsFasterAndComputesTheSame) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.factor["channels_last"] = 0.8;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, (std::vector<std::string>{"bf16_autocast", "channels_last"}));
  ASSERT_TRUE(result.best.has_value());
  EXPECT_NEAR(result.best->speedup, 1 / (0.5 * 0.8), 0.01);
  EXPECT_EQ(of(result, "bf16_autocast").parity, Parity::kOk);
  EXPECT_FALSE(of(result, "compile").tried);
  EXPECT_TRUE(names(of(result, "compile").why, "no compiler"));
  EXPECT_EQ(of(result, "compile").outcome, Outcome::kNotApplicable);
  EXPECT_EQ(of(result, "channels_last").outcome, Outcome::kKept);
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "confirm"), 1);
}

/// As a change of the script that the hook's help is missing from.
std::optional<TrialRequest> written(TuneResult& result) {
  result.patch.diff = "--- a\n";
  TrialRequest request;
  request.label = "as_written-1";
  request.levers = result.kept;
  request.as_written = true;
  return request;
}

TEST(Search, TheChangeGainsWhatItGainsAsItIsWritten) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.write = written;
  job.written_factor = 0.8;
  const TuneResult result = found(job, {"channels_last"});
  ASSERT_TRUE(result.best && result.patch.gain);
  EXPECT_NEAR(result.best->speedup, 2, 0.01) << "with the hook";
  EXPECT_NEAR(result.patch.gain->speedup, 1.25, 0.01);
  EXPECT_EQ(result.patch.diff, "--- a\n");
}

TEST(Search, AChangeThatDoesNotRunIsNoneThatIsGiven) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.write = written;
  job.plant["as_written-1"] = [](TrialResult& result) {
    result.ending = Ending::kCrashed;
    result.why = "NameError";
  };
  const TuneResult result = found(job, {"channels_last"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"channels_last"});
  EXPECT_EQ(result.patch.diff, "");
  EXPECT_EQ(result.patch.why_no_gain.kind, ReasonKind::kNoChangeAsWritten);
  EXPECT_TRUE(names(result.patch.why_no_gain, "NameError"));
}

TEST(Search, AChangeThatComputesSomethingElseIsNoneThatIsGiven) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.write = written;
  job.written_factor = 0.5;
  job.plant["as_written-1.losses"] = [](TrialResult& result) { result.losses.back() *= 1.5; };
  const TuneResult result = found(job, {"channels_last"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"channels_last"});
  EXPECT_EQ(result.patch.diff, "");
  EXPECT_FALSE(result.patch.gain);
  EXPECT_EQ(result.patch.why_no_gain.kind, ReasonKind::kNoChangeAsWritten);
  EXPECT_TRUE(holds(result.patch.why_no_gain, ReasonKind::kOtherResults));
}

TEST(Search, AChangeForWhichNoTimeIsLeftIsGivenWithoutAGain) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.write = [&job](TuneResult& result) {
    job.most_runs = static_cast<std::int64_t>(job.made.size());
    return written(result);
  };
  const TuneResult result = found(job, {"channels_last"});
  EXPECT_EQ(result.patch.diff, "--- a\n");
  EXPECT_FALSE(result.patch.gain);
  EXPECT_TRUE(names(result.patch.why_no_gain, "the budget of 1.0 min ended"));
}

TEST(Search, NeverMakesTwoTrialsOfOneLabel) {
  PlantedJob job;
  for (const char* id : {"bf16_autocast", "channels_last", "fused_optimizer"}) job.factor[id] = 0.8;
  static_cast<void>(found(job));
  std::vector<std::string> labels = job.made;
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(std::adjacent_find(labels.begin(), labels.end()), labels.end());
}

TEST(Search, AGainWithinTheNoiseIsNotKept) {
  PlantedJob job;
  job.factor["channels_last"] = 0.95;
  job.drift = 0.08;
  const TuneResult result = found(job, {"channels_last"});
  EXPECT_NEAR(result.noise_ratio, 0.065, 0.001) << "of three pairs of runs two differ by 8 %";
  EXPECT_TRUE(result.kept.empty());
  EXPECT_NEAR(figure(of(result, "channels_last").why, "gain"), 0.065, 0.001);
  EXPECT_EQ(of(result, "channels_last").outcome, Outcome::kWithinNoise);
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "channels_last.2"), 1);
}

TEST(Search, OfAGroupTheFastestIsKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.8;
  job.factor["matmul_precision"] = 0.6;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"matmul_precision"});
  EXPECT_TRUE(names(of(result, "bf16_autocast").why, "matmul_precision"));
  EXPECT_EQ(of(result, "bf16_autocast").outcome, Outcome::kReplaced);
}

TEST(Search, AGroupIsAskedForByItsName) {
  PlantedJob job;
  for (const LeverResult& lever : found(job, {"precision"}).levers) {
    EXPECT_EQ(lever.lever.group, "precision") << lever.lever.id;
  }
  EXPECT_NE(std::find(job.made.begin(), job.made.end(), "bf16_autocast"), job.made.end());
}

TEST(Search, AsManyLossesAreComparedAsTwoTrialsTake) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  found(job, {"channels_last"});
  EXPECT_EQ(job.parity_steps, std::set<int>{200}) << "16 s of steps of 10 ms, but no more than 200";
}

TEST(Search, AVariantOfWhatIsSlowerIsNotTried) {
  PlantedJob job;
  job.plant["compile_regions"] = [](TrialResult&) { ADD_FAILURE(); };
  job.factor["compile"] = 1.3;
  job.compiles = true;
  const TuneResult result = found(job, {"compile"});
  EXPECT_EQ(of(result, "compile_regions").why.kind, ReasonKind::kVariantOfSlower);
  EXPECT_TRUE(names(of(result, "compile_regions").why, "compile"));
}

TEST(Search, WhatIsClearlySlowerTakesOneRun) {
  PlantedJob job;
  job.factor["threads=1"] = 2;
  job.factor["threads=2"] = 2;
  found(job, {"threads"});
  const auto ran = [&job](const char* label) {
    return std::find(job.made.begin(), job.made.end(), label) != job.made.end();
  };
  EXPECT_FALSE(ran("threads=1.without"));
  EXPECT_TRUE(ran("threads=2.without")) << "the job as it is has not run for a while";
}

TEST(Search, StepsThatAScalerLeavesOutAreNoGain) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.plant["channels_last"] = [](TrialResult& result) { result.skipped_ratio = 0.3; };
  const TuneResult result = found(job, {"channels_last"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "channels_last").why.kind, ReasonKind::kStepsSkipped);
  EXPECT_NEAR(figure(of(result, "channels_last").why, "share"), 0.3, 1e-9);
}

TEST(Search, LessWorkIsNoGain) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.plant["channels_last"] = [](TrialResult& result) { result.samples_per_step = 8; };
  job.factor["fused_optimizer"] = 0.5;
  job.plant["fused_optimizer"] = [](TrialResult& result) { result.backwards_per_step = 0.5; };
  const TuneResult result = found(job, {"channels_last", "fused_optimizer"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "channels_last").why.kind, ReasonKind::kOtherSamples);
  EXPECT_EQ(figure(of(result, "channels_last").why, "samples"), 8);
  EXPECT_EQ(of(result, "fused_optimizer").why.kind, ReasonKind::kOtherPasses);
}

TEST(Search, OtherResultsAreNotKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.plant["bf16_autocast"] = [](TrialResult& result) {
    for (double& loss : result.losses) loss = 3.1;
  };
  const TuneResult result = found(job, {"bf16_autocast"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "bf16_autocast").parity, Parity::kFailed);
}

TEST(Search, WhatEndsBadlyIsNamedAndTheSearchGoesOn) {
  PlantedJob job;
  job.plant["bf16_autocast"] = [](TrialResult& result) {
    result.ending = Ending::kNotFinite;
    result.why = "the loss became NaN or infinite";
  };
  job.plant["threads=1"] = [](TrialResult& result) {
    result.ending = Ending::kOutOfMemory;
    result.why = "torch.OutOfMemoryError";
  };
  job.factor["fused_optimizer"] = 0.8;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"fused_optimizer"});
  EXPECT_EQ(of(result, "bf16_autocast").parity, Parity::kFailed);
  EXPECT_EQ(of(result, "threads=1").why.kind, ReasonKind::kEnding);
  EXPECT_TRUE(names(of(result, "threads=1").why, "out_of_memory"));
  EXPECT_TRUE(names(of(result, "threads=1").why, "torch.OutOfMemoryError"));
}

TEST(Search, WithoutLossesOnlyExactLeversAreAccepted) {
  PlantedJob job;
  job.zero_losses = true;
  job.factor["bf16_autocast"] = 0.5;
  job.factor["threads=2"] = 0.7;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"threads=2"});
  EXPECT_EQ(of(result, "bf16_autocast").parity, Parity::kNotObserved);
  EXPECT_EQ(of(result, "threads=2").parity, Parity::kNotNeeded);
}

TEST(Search, AnIntervalSaysWhatASecondSearchMayFind) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.drift = 0.05;
  const TuneResult result = found(job, {"bf16_autocast"});
  ASSERT_EQ(result.kept, std::vector<std::string>{"bf16_autocast"});
  ASSERT_GT(result.noise_ratio, 0.02);
  const auto by_noise = [&](const predict::Speedup& speed) {
    EXPECT_LE(speed.low * (1 + result.noise_ratio), speed.speedup);
    EXPECT_GE(speed.high, speed.speedup * (1 + result.noise_ratio));
  };
  by_noise(*of(result, "bf16_autocast").speedup);
  by_noise(*result.best);
}

/// A job of 16 samples and 4 backward passes a step, of which each pass takes 5 ms.
PlantedJob job_that_accumulates() {
  PlantedJob job;
  job.finish = [](const std::vector<std::string>& levers, TrialResult& result) {
    int batch = 16;
    int passes = 4;
    for (const std::string& id : levers) {
      static_cast<void>(std::sscanf(id.c_str(), "batch=%d accumulation=%d", &batch, &passes));
    }
    const double step_s = passes * (0.005 + 0.0001 * batch);
    for (double& step : result.steps_s) step *= step_s / result.mean_step_s;
    result.mean_step_s = step_s;
    result.samples_per_step = batch * passes;
    result.backwards_per_step = passes;
  };
  return job;
}

const std::vector<Argument> kAccumulated = {{"batch", "--batch", 16},
                                            {"accumulation", "--accumulate", 4}};

TEST(Search, FewerPassesOfLargerBatchesAreKeptWhereAStepHoldsAsMany) {
  PlantedJob job = job_that_accumulates();
  const TuneResult result = found(job, {"accumulation"}, kAccumulated);
  EXPECT_EQ(result.kept, std::vector<std::string>{"batch=64 accumulation=1"});
  EXPECT_EQ(of(result, "batch=64 accumulation=1").parity, Parity::kOk);
  EXPECT_EQ(of(result, "batch=8 accumulation=8").outcome, Outcome::kSlower);
}

TEST(Search, PassesAreNotTradedWhereResultsAreNotObserved) {
  PlantedJob job = job_that_accumulates();
  job.zero_losses = true;
  const TuneResult result = found(job, {"accumulation"}, kAccumulated);
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "batch=64 accumulation=1").parity, Parity::kNotObserved);
}

TEST(Search, TheBatchIsSearchedFromTheOneThatIsKept) {
  PlantedJob job = job_that_accumulates();
  const TuneResult result = found(job, {"accumulation", "batch"}, kAccumulated);
  EXPECT_EQ(result.kept, std::vector<std::string>{"batch=64 accumulation=1"});
  const LeverResult& twice = of(result, "batch=128");
  EXPECT_NEAR(twice.speedup->speedup, (11.4 / 64) / (17.8 / 128), 0.01);
}

TEST(Search, ALeverThatFillsTheGpuIsNotKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.plant["bf16_autocast"] = [](TrialResult& result) {
    result.total_memory_bytes = 100;
    result.used_memory_bytes = 97;
  };
  job.factor["channels_last"] = 0.5;
  job.plant["channels_last"] = [](TrialResult& result) { result.allocator_retries = 3; };
  const TuneResult result = found(job, {"bf16_autocast", "channels_last"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(of(result, "bf16_autocast").why.kind, ReasonKind::kMemoryNearlyFull);
  EXPECT_NEAR(figure(of(result, "bf16_autocast").why, "share"), 0.97, 1e-9);
  EXPECT_EQ(of(result, "channels_last").why.kind, ReasonKind::kRanOutOfMemory);
  EXPECT_EQ(figure(of(result, "channels_last").why, "times"), 3);
}

TEST(Search, ALongerStartIsHeldAgainstTheGain) {
  PlantedJob job;
  job.factor["fused_optimizer"] = 0.5;
  job.plant["fused_optimizer"] = [](TrialResult& result) { result.cold_s = 21; };
  const TuneResult result = found(job, {"fused_optimizer"});
  EXPECT_NEAR(of(result, "fused_optimizer").pays_off_steps, 20 / 0.005, 10);
}

TEST(Search, WhereTheLoaderHoldsTheJobUpFeedingItComesFirst) {
  PlantedJob job;
  job.loading_s = 0.02;
  job.factor["bf16_autocast"] = 0.5;
  const TuneResult result = found(job, {"bf16_autocast"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_NEAR(result.when_fed->speedup, 2, 0.01);
  const LeverResult& lever = of(result, "bf16_autocast");
  EXPECT_NEAR(lever.speedup_when_fed->speedup, 2, 0.01);
  EXPECT_EQ(lever.why.kind, ReasonKind::kFasterWhenFed);
}

TEST(Search, WhereItHardlyWaitsAShortFirstBatchIsNoLoaderThatHoldsItUp) {
  PlantedJob job;  // of a batch that is there already a step takes a tenth
  job.batch = [](std::int64_t, TrialResult& result) { result.shares.products = 0.8; };
  job.loading_s = 0.1;
  job.factor["bf16_autocast"] = 0.5;
  const TuneResult result = found(job, {"bf16_autocast"});
  EXPECT_FALSE(result.when_fed);
  EXPECT_FALSE(of(result, "bf16_autocast").speedup_when_fed);
}

TEST(Search, WhatTheNoiseHidesIsNoLoaderThatHoldsItUp) {
  PlantedJob job;
  job.drift = 40;
  job.loading_s = 0.02;
  const TuneResult result = found(job, {"bf16_autocast"});
  EXPECT_LT(result.when_fed->low, kHeldUpByLoader);
  EXPECT_TRUE(holds(of(result, "bf16_autocast").why, ReasonKind::kNoiseTellsNothing));
}

TEST(Search, HowAFedJobIsFedIsTriedLast) {
  PlantedJob fed;
  PlantedJob starved;
  starved.loading_s = 0.02;
  const std::vector<Argument> workers = {{"workers", "--workers", 0}};
  const TuneResult last = found(fed, {}, workers);
  EXPECT_EQ(last.levers.front().lever.id, "bf16_autocast");
  EXPECT_EQ(last.levers.back().lever.group, "workers");
  EXPECT_EQ(found(starved, {}, workers).levers.front().lever.id, "workers=1");
}

TEST(Search, AJobThatIsFedIsNotRunTwicePerLever) {
  PlantedJob job;
  static_cast<void>(found(job, {"bf16_autocast"}));
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "bf16_autocast.fed"), 0);
}

TEST(Search, EndsWithTheBudgetAndSaysSo) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.most_runs =
      10;  // two as it is, one that is fed, one with the lever, one without, five for the losses
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"bf16_autocast"});
  EXPECT_FALSE(result.unfinished.empty());
  EXPECT_TRUE(names(of(result, "channels_last").why, "budget"));
}

TEST(Search, AJobThatCannotBeMeasuredIsAnError) {
  class Broken final : public Trials {
    Result<TrialResult> run(const TrialRequest&) override {
      TrialResult result;
      result.ending = Ending::kCrashed;
      result.why = "exit 1: No such file";
      return result;
    }
  } job;
  SearchListener listener;
  const auto result = search(job, {}, listener);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kJobFailed);
  EXPECT_NE(result.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace unstarve::tune
