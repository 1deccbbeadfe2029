// How a search finds a size of batch, of jobs that are modelled.
#include <gtest/gtest.h>

#include <algorithm>

#include "tune/batch/batch_search.h"
#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

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
  EXPECT_TRUE(best.is_proposed()) << "140 fit below 95 %, too little more to be worth a trial";
  EXPECT_NEAR(best.speedup->speedup, (10.33 / 16) / (47.6 / 128), 0.02);
  EXPECT_NE(best.lever.permanent.find("2.83 times the learning rate"), std::string::npos)
      << best.lever.permanent;
  EXPECT_FALSE(of(result, "batch=64").is_proposed());
  EXPECT_TRUE(names(of(result, "batch=64").why, "batch=128"));
}

TEST(BatchSearch, SaysHowFewStepsAPassIsThen) {
  PlantedJob job = job_with_batch();
  job.batch = [full = job.batch](std::int64_t size, TrialResult& result) {
    full(size, result);
    result.steps_of_pass = static_cast<double>(300 / size);  // with drop_last
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_THAT(of(result, "batch=128").lever.permanent,
              ::testing::EndsWith("; a pass over the data is 2 steps then"));
  EXPECT_EQ(pass_words(1), "; a pass over the data is 1 step then");
  EXPECT_EQ(pass_words(0), "");
  EXPECT_EQ(pass_words(11), "");
}

TEST(Search, TheShortLastBatchOfAPassIsNoOtherBatch) {
  PlantedJob job = job_with_batch();
  const auto full = job.batch;
  job.batch = [full](std::int64_t size, TrialResult& result) {
    full(size, result);
    result.full_step_samples = result.samples_per_step;
    if (size > 16) result.samples_per_step *= 0.94;  // the larger one's trial ends a pass
  };
  EXPECT_TRUE(of(found(job, {"batch"}, kBatchOf16), "batch=128").is_proposed());
}

TEST(Search, ABatchThatRunsOutOfMemoryLaterIsNotProposed) {
  PlantedJob job = job_with_batch();
  job.verify = [](std::int64_t size, TrialResult& result) {
    if (size <= 64) return;
    result.ending = Ending::kOutOfMemory;  // the longest sample, or the evaluation
    result.why = "torch.OutOfMemoryError: CUDA out of memory";
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  EXPECT_FALSE(of(result, "batch=128").is_proposed());
  EXPECT_EQ(of(result, "batch=128").why.kind, ReasonKind::kRanAtFirst);
  EXPECT_TRUE(names(of(result, "batch=128").why, "out_of_memory"));
  EXPECT_TRUE(of(result, "batch=64").is_proposed());
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
    EXPECT_TRUE(lever.tried && !lever.is_proposed());
    constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
    EXPECT_EQ(lever.why.kind, ReasonKind::kSavesMemory);
    EXPECT_NEAR(figure(lever.why, "saved_bytes") / kGiB, 2.24, 0.005);
    EXPECT_NEAR(figure(lever.why, "of_bytes") / kGiB, 12.29, 0.005);
    EXPECT_NEAR(figure(lever.why, "times_as_long"), times_longer, 0.005);
  }
}

TEST(Search, WhereMemoryEndsLargerBatchesAreTriedWithWhatSavesIt) {
  PlantedJob job = job_with_checkpointing(1.1);
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(result.kept.empty());
  const LeverResult& best = of(result, "batch=512 gradient_checkpointing");
  EXPECT_TRUE(best.is_proposed());
  EXPECT_EQ(best.lever.hook, "gradient_checkpointing");
  EXPECT_NE(best.lever.permanent.find("--batch-size 512"), std::string::npos);
  EXPECT_NE(best.lever.permanent.find("set_grad_checkpointing"), std::string::npos);
  EXPECT_FALSE(of(result, "batch=128").is_proposed());
  EXPECT_TRUE(names(of(result, "batch=128").why, "batch=512 gradient_ch"));
  const Reason& why = of(result, "batch=256 gradient_checkpointing").why;
  EXPECT_EQ(why.kind, ReasonKind::kBatchBetter);
  EXPECT_TRUE(names(why, "batch=512 gradient_checkpointing"));
}

TEST(Search, WhatSavesMemoryIsNotProposedWhereASampleTakesLonger) {
  PlantedJob job = job_with_checkpointing(1.5);
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_TRUE(of(result, "batch=128").is_proposed());
  const LeverResult& lever = of(result, "batch=256 gradient_checkpointing");
  EXPECT_FALSE(lever.is_proposed());
  EXPECT_EQ(lever.why.kind, ReasonKind::kBatchTooDear);
  EXPECT_TRUE(names(lever.why, "batch=128"));
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
  EXPECT_TRUE(of(result, "batch=32").is_proposed());
  for (const LeverResult& lever : result.levers) {
    EXPECT_EQ(lever.lever.id.find(" gradient_checkpointing"), std::string::npos);
  }
}

TEST(Search, WhatSavesMemoryIsNotTriedWhereTheDataEnd) {
  PlantedJob job = job_with_checkpointing(1.1);
  job.batch = [batch = job.batch](std::int64_t size, TrialResult& result) {
    batch(std::min<std::int64_t>(size, 50), result);
  };
  const TuneResult result = found(job, {"batch", "gradient_checkpointing"}, kBatchOf16);
  EXPECT_EQ(of(result, "batch=64").why.kind, ReasonKind::kDataEnd);
  EXPECT_TRUE(of(result, "batch=48").is_proposed());
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
  EXPECT_EQ(of(result, "batch=64").why.kind, ReasonKind::kRanOutOfMemory);
  EXPECT_EQ(figure(of(result, "batch=64").why, "times"), 3);
  const LeverResult& best = of(result, "batch=128 expandable_segments");
  EXPECT_TRUE(best.is_proposed());
  EXPECT_NE(best.lever.permanent.find("expandable_segments:True"), std::string::npos);
  ASSERT_EQ(best.lever.environment.size(), 1U);
  EXPECT_EQ(of(result, "batch=32").why.kind, ReasonKind::kBatchBetter);
  EXPECT_TRUE(names(of(result, "batch=32").why, "batch=128 expandable_segments"));
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
  EXPECT_TRUE(of(result, "batch=128 expandable_segments").is_proposed()) << "2 % faster than 32";
}

TEST(Search, WhatSavesMemoryComesOnTopOfWhatMadeRoom) {
  PlantedJob job = job_with_holes();
  const TuneResult result =
      found(job, {"batch", "expandable_segments", "gradient_checkpointing"}, kBatchOf16);
  const LeverResult& best = of(result, "batch=512 expandable_segments gradient_checkpointing");
  EXPECT_TRUE(best.is_proposed());
  EXPECT_EQ(best.lever.hook, "gradient_checkpointing");
  EXPECT_EQ(best.lever.environment.size(), 1U) << "the other's";
  const Reason& why = of(result, "batch=128 expandable_segments").why;
  EXPECT_EQ(why.kind, ReasonKind::kBatchBetter);
  EXPECT_TRUE(names(why, "batch=512 expandable_segments gradient_checkpointing"));
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
  EXPECT_TRUE(of(result, "batch=512 gradient_checkpointing").is_proposed());
}

TEST(Search, AnOptionThatIsNotTheBatchIsNotTakenForOne) {
  PlantedJob job = job_with_batch();
  const auto batch = job.batch;
  job.batch = [batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    result.samples_per_step = 16;
  };
  const TuneResult result = found(job, {"batch"}, kBatchOf16);
  for (const LeverResult& lever : result.levers)
    EXPECT_FALSE(lever.is_proposed()) << lever.lever.id;
  const Reason& why = of(result, "batch=32").why;
  EXPECT_EQ(why.kind, ReasonKind::kNotBatchAlone);
  EXPECT_EQ(figure(why, "samples"), 16);
  EXPECT_EQ(figure(why, "expected"), 32);
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
  EXPECT_TRUE(of(result, "batch=128").is_proposed());
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
  EXPECT_EQ(of(result, "batch=32").why.kind, ReasonKind::kNewSamplesUnknown);
  for (const LeverResult& lever : result.levers)
    EXPECT_FALSE(lever.is_proposed()) << lever.lever.id;
}

}  // namespace
}  // namespace unstarve::tune
