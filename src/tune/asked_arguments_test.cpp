#include "tune/asked_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

const std::vector<Argument> kOfClasses = {{"batch", "DataLoader.batch_size", 0},
                                          {"workers", "DataLoader.num_workers", 0}};

/// A job of 16 samples a step, whose first run says what its classes were constructed with.
PlantedJob job_with(const std::map<std::string, Constructed>& constructed) {
  PlantedJob job;
  job.finish = [constructed](const std::vector<std::string>&, TrialResult& result) {
    result.constructed = constructed;
  };
  return job;
}

TEST(AskedArguments, BeginWithWhatTheFirstRunConstructed) {
  TrialResult run;
  run.constructed = {{"DataLoader.batch_size", {16, "", ""}}, {"DataLoader.num_workers", {}}};
  std::vector<Argument> asked = kOfClasses;
  asked.push_back({"width", "--width", 3});
  const AskedArguments settled = settle_arguments(asked, run);
  ASSERT_EQ(settled.known.size(), 3U);
  EXPECT_EQ(settled.known[0].value, 16);
  EXPECT_EQ(settled.known[1].value, 0) << "a loader may begin without workers";
  EXPECT_EQ(settled.known[2].value, 3);
  EXPECT_TRUE(settled.without_value.empty());
}

TEST(AskedArguments, WithoutAValueSayWhy) {
  TrialResult run;
  run.constructed = {{"DataLoader.batch_size", {0, "", ""}},
                     {"DataLoader.num_workers", {0, "the job made no DataLoader", ""}}};
  std::vector<Argument> asked = kOfClasses;
  asked.push_back({"accumulation", "Trainer.accumulate_grad_batches", 0});
  const AskedArguments settled = settle_arguments(asked, run);
  EXPECT_TRUE(settled.known.empty());
  ASSERT_EQ(settled.without_value.size(), 3U);
  EXPECT_EQ(settled.without_value[0].lever.id, "batch");
  const Reason& zero = settled.without_value[0].why;
  EXPECT_EQ(zero.kind, ReasonKind::kOptionNoNumber);
  EXPECT_TRUE(names(zero, "DataLoader.batch_size"));
  EXPECT_EQ(figure(zero, "value"), 0);
  EXPECT_TRUE(names(settled.without_value[1].why, "the job made no DataLoader"));
  const Reason& unknown = settled.without_value[2].why;
  EXPECT_EQ(unknown.kind, ReasonKind::kOptionUnknown);
  EXPECT_TRUE(names(unknown, "Trainer.accumulate_grad_batches"));
}

TEST(AskedArguments, ASearchGoesOnWithoutThoseThatHaveNone) {
  PlantedJob job = job_with({{"DataLoader.batch_size", {0, "the job made no DataLoader", ""}},
                             {"DataLoader.num_workers", {0, "", "train.py:4"}}});
  job.factor["workers=4"] = 0.5;
  const TuneResult result = found(job, {"batch", "workers"}, kOfClasses);
  EXPECT_EQ(result.kept, std::vector<std::string>{"workers=4"});
  EXPECT_EQ(of(result, "workers=4").lever.permanent, "num_workers=4 in DataLoader(...)");
  EXPECT_FALSE(of(result, "batch").tried);
  EXPECT_TRUE(names(of(result, "batch").why, "the job made no DataLoader"));
  EXPECT_TRUE(std::none_of(job.made.begin(), job.made.end(),
                           [](const std::string& label) { return label.starts_with("batch"); }));
}

TEST(AskedArguments, SizesOfABatchInTheCodeAreSearched) {
  PlantedJob job = job_with({{"DataLoader.batch_size", {16, "", "train.py:4"}}});
  job.batch = [](std::int64_t size, TrialResult& result) {
    const double step_s = 0.005 + 0.0003 * static_cast<double>(size);
    std::fill(result.steps_s.begin(), result.steps_s.end(), step_s);
    result.mean_step_s = step_s;
    result.samples_per_step = static_cast<double>(size);
    result.total_memory_bytes = 40'000'000'000;
    result.used_memory_bytes = 10'000'000'000 + size * 200'000'000;
  };
  const TuneResult result = found(job, {"batch"}, kOfClasses);
  const auto proposed =
      std::find_if(result.levers.begin(), result.levers.end(),
                   [](const LeverResult& candidate) { return candidate.is_proposed(); });
  ASSERT_NE(proposed, result.levers.end());
  EXPECT_EQ(proposed->lever.id, "batch=128") << "a straight line through what was measured";
  EXPECT_EQ(proposed->lever.permanent.find("batch_size=128 in DataLoader(...); it is another"), 0U)
      << proposed->lever.permanent;
}

TEST(AskedArguments, AKeptPairIsWhereTheBatchBegins) {
  const Lever pair = both_levers(argument_lever({"batch", "DataLoader.batch_size", 16}, 32),
                                 argument_lever({"accumulation", "--accumulate", 2}, 1));
  LeverResult row;
  row.lever = pair;
  EXPECT_EQ(as_kept({"batch", "DataLoader.batch_size", 16}, {row}, {0}).value, 32);
  EXPECT_EQ(as_kept({"batch", "DataLoader.batch_size", 16}, {row}, {}).value, 16);
}

}  // namespace
}  // namespace unstarve::tune
