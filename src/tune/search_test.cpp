#include "tune/testing/planted_job.h"

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
  EXPECT_NE(of(result, "compile").why.find("no compiler"), std::string::npos);
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "confirm"), 1);
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
  EXPECT_NE(of(result, "channels_last").why.find("6.5 %"), std::string::npos);
  EXPECT_EQ(std::count(job.made.begin(), job.made.end(), "channels_last.2"), 1);
}

TEST(Search, OfAGroupTheFastestIsKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.8;
  job.factor["matmul_precision"] = 0.6;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"matmul_precision"});
  EXPECT_NE(of(result, "bf16_autocast").why.find("matmul_precision"), std::string::npos);
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
  EXPECT_EQ(of(result, "compile_regions").why, "compile is slower, of which it is a variant");
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
  EXPECT_NE(of(result, "channels_last").why.find("30 % of the steps"), std::string::npos);
}

TEST(Search, LessWorkIsNoGain) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.plant["channels_last"] = [](TrialResult& result) { result.samples_per_step = 8; };
  job.factor["fused_optimizer"] = 0.5;
  job.plant["fused_optimizer"] = [](TrialResult& result) { result.backwards_per_step = 0.5; };
  const TuneResult result = found(job, {"channels_last", "fused_optimizer"});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_NE(of(result, "channels_last").why.find("8.0 samples, not 16.0"), std::string::npos);
  EXPECT_NE(of(result, "fused_optimizer").why.find("other work"), std::string::npos);
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
  EXPECT_EQ(of(result, "threads=1").why, "out_of_memory: torch.OutOfMemoryError");
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

/// A GPU of 40 GB, on which a batch takes 10 GB and 0.2 GB a sample, and a step 5 ms and a third of
/// a millisecond a sample.
PlantedJob job_with_batch() {
  PlantedJob job;
  job.batch = [](std::int64_t size, TrialResult& result) {
    result.samples_per_step = static_cast<double>(size);
    const double step_s = 0.005 + 0.000333 * static_cast<double>(size);
    for (double& step : result.steps_s) step *= step_s / result.mean_step_s;
    result.mean_step_s = step_s;
    result.total_memory_bytes = 40'000'000'000;
    result.used_memory_bytes = 10'000'000'000 + size * 200'000'000;
    result.optimizer = "AdamW";
    if (result.used_memory_bytes > result.total_memory_bytes) {
      result.ending = Ending::kOutOfMemory;
      result.why = "torch.OutOfMemoryError: CUDA out of memory";
    }
  };
  return job;
}

const std::vector<Argument> kBatchOf16 = {{"batch", "--batch-size", 16}};

TEST(Search, ABatchIsProposedAndNeverAccepted) {
  PlantedJob job = job_with_batch();
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_TRUE(result.kept.empty());
  const LeverResult& best = of(result, "batch=128");
  EXPECT_TRUE(best.proposed) << "140 fit below 95 %, too little more to be worth a trial";
  EXPECT_NEAR(best.speedup->speedup, (10.33 / 16) / (47.6 / 128), 0.02);
  EXPECT_NE(best.lever.permanent.find("2.83 times the learning rate"), std::string::npos)
      << best.lever.permanent;
  EXPECT_FALSE(of(result, "batch=64").proposed);
  EXPECT_NE(of(result, "batch=64").why.find("batch=128"), std::string::npos);
}

TEST(Search, ABatchThatRunsOutOfMemoryLaterIsNotProposed) {
  PlantedJob job = job_with_batch();
  job.verify = [](std::int64_t size, TrialResult& result) {
    if (size <= 64) return;
    result.ending = Ending::kOutOfMemory;  // the longest sample, or the evaluation
    result.why = "torch.OutOfMemoryError: CUDA out of memory";
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_FALSE(of(result, "batch=128").proposed);
  EXPECT_NE(of(result, "batch=128").why.find("later not: out_of_memory"), std::string::npos);
  EXPECT_TRUE(of(result, "batch=64").proposed);
}

/// Of which a lever keeps a quarter of what a sample takes, and makes steps so much longer.
PlantedJob job_with_checkpointing(double times_longer) {
  PlantedJob job = job_with_batch();
  job.batch = [](std::int64_t size, TrialResult& result) {
    const double step_s = 0.020 + 0.000333 * static_cast<double>(size);
    for (double& step : result.steps_s) step *= step_s / result.mean_step_s;
    result.mean_step_s = step_s;
    result.samples_per_step = static_cast<double>(size);
  };
  job.finish = [times_longer](const std::vector<std::string>& levers, TrialResult& result) {
    const bool saves = std::any_of(levers.begin(), levers.end(), [](const std::string& id) {
      return id.ends_with("gradient_checkpointing");
    });
    for (double& step : result.steps_s) step *= saves ? times_longer : 1;
    result.mean_step_s *= saves ? times_longer : 1;
    result.total_memory_bytes = 40'000'000'000;
    result.used_memory_bytes = result.peak_memory_bytes =
        10'000'000'000 + static_cast<std::int64_t>(result.samples_per_step * (saves ? 5e7 : 2e8));
    if (result.used_memory_bytes < result.total_memory_bytes) return;
    result.ending = Ending::kOutOfMemory;
    result.why = "torch.OutOfMemoryError: CUDA out of memory";
  };
  return job;
}

TEST(Search, ALeverThatSavesMemoryIsNeverKeptForItself) {
  for (const double times_longer : {1.25, 0.5}) {
    PlantedJob job = job_with_checkpointing(times_longer);
    const TuneResult result = found(job, {"gradient_checkpointing"});
    EXPECT_TRUE(result.kept.empty());
    const LeverResult& lever = of(result, "gradient_checkpointing");
    EXPECT_TRUE(lever.tried && !lever.proposed);
    EXPECT_NE(lever.why.find("saves 2.24 of 12.29 GiB"), std::string::npos) << lever.why;
    EXPECT_NE(lever.why.find(fmt::format("{:.2f} times as long", times_longer)), std::string::npos);
  }
}

TEST(Search, WhereMemoryEndsLargerBatchesAreTriedWithWhatSavesIt) {
  PlantedJob job = job_with_checkpointing(1.1);
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(result.kept.empty());
  const LeverResult& best = of(result, "batch=512 gradient_checkpointing");
  EXPECT_TRUE(best.proposed) << best.why;
  EXPECT_EQ(best.lever.hook, "gradient_checkpointing");
  EXPECT_NE(best.lever.permanent.find("--batch-size 512"), std::string::npos);
  EXPECT_NE(best.lever.permanent.find("set_grad_checkpointing"), std::string::npos);
  EXPECT_FALSE(of(result, "batch=128").proposed);
  EXPECT_NE(of(result, "batch=128").why.find("batch=512 gradient_ch"), std::string::npos);
  EXPECT_EQ(of(result, "batch=256 gradient_checkpointing").why,
            "a sample takes less with batch=512 gradient_checkpointing");
}

TEST(Search, WhatSavesMemoryIsNotProposedWhereASampleTakesLonger) {
  PlantedJob job = job_with_checkpointing(1.5);
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(of(result, "batch=128").proposed);
  const LeverResult& lever = of(result, "batch=256 gradient_checkpointing");
  EXPECT_FALSE(lever.proposed);
  EXPECT_EQ(lever.why, "a sample takes less with batch=128: what it saves is not worth it");
}

TEST(Search, WhatSavesMemoryIsNotTriedWhereThereIsEnough) {
  PlantedJob job = job_with_checkpointing(1.1);
  const auto batch = job.batch;
  job.batch = [batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    const double longer = size > 32 ? 2 : 1;  // larger ones are no better
    for (double& step : result.steps_s) step *= longer;
    result.mean_step_s *= longer;
  };
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(of(result, "batch=32").proposed);
  for (const LeverResult& lever : result.levers) {
    EXPECT_EQ(lever.lever.id.find(" gradient_checkpointing"), std::string::npos);
  }
}

/// On a GPU, where samples of many lengths leave holes in memory unless its segments grow.
PlantedJob job_with_holes() {
  PlantedJob job = job_with_checkpointing(1.1);
  job.finish = [finish = job.finish](const std::vector<std::string>& levers, TrialResult& result) {
    result.device = "cuda";
    finish(levers, result);
    const bool grows = std::any_of(levers.begin(), levers.end(), [](const std::string& id) {
      return id.find("expandable_segments") != std::string::npos;
    });
    if (!grows && result.samples_per_step > 32) result.allocator_retries = 3;
  };
  return job;
}

TEST(Search, WhereHolesInMemoryEndItLargerBatchesAreTriedWithoutThem) {
  PlantedJob job = job_with_holes();
  const TuneResult result = found(job, {"batch", "expandable_segments"}, kBatchOf16);
  EXPECT_NE(of(result, "batch=64").why.find("it ran out of memory 3 times"), std::string::npos);
  const LeverResult& best = of(result, "batch=128 expandable_segments");
  EXPECT_TRUE(best.proposed) << best.why;
  EXPECT_NE(best.lever.permanent.find("expandable_segments:True"), std::string::npos);
  ASSERT_EQ(best.lever.environment.size(), 1U);
  EXPECT_EQ(of(result, "batch=32").why, "a sample takes less with batch=128 expandable_segments");
}

TEST(Search, WhatMakesRoomAtNoCostNeedNotBeatTheNoise) {
  PlantedJob job = job_with_holes();
  job.drift = 0.05;
  job.batch = [](std::int64_t size, TrialResult& result) {
    const auto samples = static_cast<double>(size);
    const double step_s = samples * (size <= 16 ? 0.001 : 0.0006 - 1e-7 * samples);
    for (double& step : result.steps_s) step *= step_s / 0.010;
    result.mean_step_s *= step_s / 0.010;
    result.samples_per_step = samples;
  };
  const TuneResult result = found(job, {"batch", "expandable_segments"}, kBatchOf16);
  EXPECT_GT(result.noise_ratio, 0.03);
  EXPECT_TRUE(of(result, "batch=128 expandable_segments").proposed) << "2 % faster than 32";
}

TEST(Search, WhatSavesMemoryComesOnTopOfWhatMadeRoom) {
  PlantedJob job = job_with_holes();
  const TuneResult result =
      found(job, {"batch", "expandable_segments", "gradient_checkpointing"}, kBatchOf16);
  const LeverResult& best = of(result, "batch=512 expandable_segments gradient_checkpointing");
  EXPECT_TRUE(best.proposed) << best.why;
  EXPECT_EQ(best.lever.hook, "gradient_checkpointing");
  EXPECT_EQ(best.lever.environment.size(), 1U) << "the other's";
  EXPECT_EQ(of(result, "batch=128 expandable_segments").why,
            "a sample takes less with batch=512 expandable_segments gradient_checkpointing");
}

TEST(Search, WhatMakesNoRoomIsNotUnderWhatSavesMemory) {
  PlantedJob job = job_with_checkpointing(1.1);  // no holes
  job.batch = [batch = job.batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    result.device = "cuda";
  };
  const TuneResult result =
      found(job, {"batch", "expandable_segments", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(of(result, "batch=128 expandable_segments").tried);
  EXPECT_TRUE(of(result, "batch=512 gradient_checkpointing").proposed);
}

TEST(Search, AnOptionThatIsNotTheBatchIsNotTakenForOne) {
  PlantedJob job = job_with_batch();
  const auto batch = job.batch;
  job.batch = [batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    result.samples_per_step = 16;
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  for (const LeverResult& lever : result.levers) EXPECT_FALSE(lever.proposed) << lever.lever.id;
  EXPECT_NE(of(result, "batch=32").why.find("16.0 samples and not 32.0"), std::string::npos);
}

TEST(Search, ABatchThatIsColumnsOfTheModelsInputIsSearched) {
  constexpr double kWords = 35;
  PlantedJob job = job_with_batch();
  job.batch = [batch = job.batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    result.samples_per_step = kWords;
    result.samples_are_rows = true;
    result.input_numbers = kWords * static_cast<double>(size);
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_TRUE(of(result, "batch=128").proposed) << of(result, "batch=128").why;
}

TEST(Search, ASizeWhoseSamplesNobodySawEndsTheSearch) {
  PlantedJob job = job_with_batch();
  job.batch = [batch = job.batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    result.samples_are_rows = true;
    result.input_numbers = size == 16 ? 16 : 0;
    if (size != 16) result.samples_per_step = 0;
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_EQ(of(result, "batch=32").why, "how many samples a step then holds is not known");
  for (const LeverResult& lever : result.levers) EXPECT_FALSE(lever.proposed) << lever.lever.id;
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
  EXPECT_NE(of(result, "batch=8 accumulation=8").why.find("slower"), std::string::npos);
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
  EXPECT_NEAR(twice.speedup->speedup, (11.4 / 64) / (17.8 / 128), 0.01) << twice.why;
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
  EXPECT_NE(of(result, "bf16_autocast").why.find("97 % of the GPU's memory"), std::string::npos);
  EXPECT_NE(of(result, "channels_last").why.find("3 times"), std::string::npos);
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
  EXPECT_NE(lever.why.find("feed the job first"), std::string::npos);
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
  EXPECT_NE(of(result, "channels_last").why.find("budget"), std::string::npos);
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
