// What a search does where runs fail, or its time ends: what is known by then is not lost.
#include <gtest/gtest.h>

#include <algorithm>

#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

bool is_made(const PlantedJob& job, const std::string& label) {
  return std::find(job.made.begin(), job.made.end(), label) != job.made.end();
}

void crash(TrialResult& result) {
  result.ending = Ending::kCrashed;
  result.why = "exit 1: OSError: Address already in use";
}

/// Runs whose label is one of these crash.
void crash_at(PlantedJob& job, const std::vector<std::string>& labels) {
  job.finish = [&job, labels](const auto& /*levers*/, TrialResult& result) {
    if (std::find(labels.begin(), labels.end(), job.made.back()) != labels.end()) crash(result);
  };
}

TEST(SearchFailures, ARunOfTheJobAsItIsThatFailsIsMadeOnceMore) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  crash_at(job, {"bf16_autocast.without"});
  EXPECT_EQ(found(job).kept, std::vector<std::string>{"bf16_autocast"});
  EXPECT_TRUE(is_made(job, "bf16_autocast.without.retry"));
}

TEST(SearchFailures, OneThatFailsAgainEndsTheSearchWithWhatIsKnown) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  crash_at(job, {"channels_last.without", "channels_last.without.retry"});
  const TuneResult result = found(job, {"bf16_autocast", "channels_last"});
  EXPECT_NE(result.unfinished.find("channels_last.without: crashed"), std::string::npos)
      << result.unfinished;
  EXPECT_EQ(result.levers.size(), 2U);
}

TEST(SearchFailures, WhatTheOthersDoNotRunWithoutStays) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.factor["channels_last"] = 0.8;
  crash_at(job, {"left_out.bf16_autocast"});
  const TuneResult result = found(job);
  EXPECT_TRUE(is_made(job, "left_out.bf16_autocast"));
  EXPECT_EQ(result.kept.size(), 2U);
  EXPECT_EQ(result.unfinished, "");
}

TEST(SearchFailures, WhatFailsWhenItIsConfirmedIsNotKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  crash_at(job, {"confirm"});
  const TuneResult result = found(job);
  EXPECT_TRUE(result.kept.empty());
  EXPECT_EQ(result.unfinished, "");
  EXPECT_TRUE(holds(of(result, "bf16_autocast").why, ReasonKind::kEnding));
  EXPECT_TRUE(names(of(result, "bf16_autocast").why, "exit 1"));
}

/// A step takes 4 ms and a quarter of a millisecond a sample.
PlantedJob failing_job_with_batch() {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.batch = [](std::int64_t size, TrialResult& result) {
    const double times = (0.004 + 0.00025 * static_cast<double>(size)) / 0.008;
    for (double& step : result.steps_s) step *= times;
    result.mean_step_s *= times;
    result.samples_per_step = static_cast<double>(size);
  };
  return job;
}

const std::vector<Argument> kBatchArgument = {{"batch", "--batch-size", 16}};

TEST(SearchFailures, WhatWasConfirmedStaysWhereTheTimeEndsInTheSearchForABatch) {
  PlantedJob whole = failing_job_with_batch();
  const std::optional<predict::Speedup> best = found(whole, {"bf16_autocast"}).best;
  PlantedJob job = failing_job_with_batch();
  job.most_runs = static_cast<std::int64_t>(whole.made.size()) + 2;
  const TuneResult result = found(job, {"bf16_autocast", "batch"}, kBatchArgument);
  EXPECT_NE(result.unfinished, "");
  EXPECT_EQ(result.kept, std::vector<std::string>{"bf16_autocast"});
  ASSERT_TRUE(best && result.best);
  EXPECT_EQ(result.best->speedup, best->speedup);
}

TEST(SearchFailures, SizesBeforeTheEndOfTheDataAreProposed) {
  PlantedJob job = failing_job_with_batch();
  job.batch = [batch = job.batch](std::int64_t size, TrialResult& result) {
    batch(size, result);
    if (size > 64) result.samples_per_step *= 0.9;  // every other step is an epoch's last
  };
  const TuneResult result = found(job, {"batch"}, kBatchArgument);
  EXPECT_TRUE(of(result, "batch=64").is_proposed());
  const Reason& why = of(result, "batch=128").why;
  EXPECT_EQ(why.kind, ReasonKind::kDataEnd);
  EXPECT_NEAR(figure(why, "samples"), 115.2, 1e-9);
  EXPECT_NEAR(figure(why, "expected"), 128, 1e-9);
}

TEST(SearchFailures, BesideOtherDrawsALeverIsHeldByItself) {
  PlantedJob job;
  job.factor["workers=2"] = 0.5;
  job.beside = [](const std::vector<std::string>& levers) {
    const auto has = [&](const char* id) {
      return std::find(levers.begin(), levers.end(), id) != levers.end();
    };
    return has("workers=2") && has("bf16_autocast") ? 0.6 : 1.0;  // nothing by itself
  };
  job.plant["bf16_autocast"] = [](TrialResult& result) {
    for (double& norm : result.gradient_norms) norm *= 0.2;
  };
  const std::vector<Argument> workers = {{"workers", "--workers", 0}};
  const TuneResult result = found(job, {"workers", "bf16_autocast"}, workers);
  EXPECT_EQ(result.kept, std::vector<std::string>{"workers=2"});
  EXPECT_TRUE(holds(of(result, "bf16_autocast").why, ReasonKind::kGradientLengthsDiffer));
}

TEST(SearchFailures, AnAskedNameThatNoLeverHasIsSaid) {
  PlantedJob job;
  const TuneResult result = found(job, {"bf16", "batch"}, kBatchArgument);
  EXPECT_EQ(of(result, "bf16").why.kind, ReasonKind::kNoSuchLever);
  EXPECT_EQ(
      std::count_if(result.levers.begin(), result.levers.end(),
                    [](const LeverResult& candidate) { return candidate.lever.id == "batch"; }),
      0);
}

TEST(SearchFailures, ShortEpochsAreNoOtherWork) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.plant["bf16_autocast"] = [](TrialResult& result) { result.samples_per_step = 15.7; };
  EXPECT_EQ(found(job).kept, std::vector<std::string>{"bf16_autocast"})
      << "one of 40 steps was an epoch's last, with few samples";
  job.plant["bf16_autocast"] = [](TrialResult& result) { result.samples_per_step = 15; };
  EXPECT_TRUE(found(job).kept.empty());
}

}  // namespace
}  // namespace unstarve::tune
