#include "tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace unstarve::tune {
namespace {

/// A job on a CPU whose step takes 10 ms; levers make it faster or slower by factors.
class PlantedJob final : public Trials {
 public:
  std::map<std::string, double> factor;  // by a lever's id: of the step's time
  std::map<std::string, std::function<void(TrialResult&)>> plant;
  double drift = 0;  // of the second run of the job as it is
  bool zero_losses = false;
  std::int64_t most_runs = 1000;
  std::vector<std::string> made;

  Result<TrialResult> run(const TrialRequest& request) override {
    if (static_cast<std::int64_t>(made.size()) >= most_runs) {
      return fail(ErrorCode::kTimeout, "the budget of 1.0 min ended");
    }
    made.push_back(request.label);
    TrialResult result;
    double step_s = 0.010;
    for (const std::string& id : request.levers) {
      if (factor.count(id) != 0) step_s *= factor[id];
    }
    if (request.label == "baseline.again") step_s *= 1 + drift;
    for (int i = 0; i < 40; ++i) result.steps_s.push_back(step_s * (1 + 0.001 * (i % 3)));
    result.mean_step_s = step_s * 1.001;
    result.samples_per_step = 16;
    result.backwards_per_step = 1;
    result.cold_s = 1;
    result.device = "cpu";
    result.threads = 4;
    result.surveyed = request.survey;
    if (request.survey) result.why_not["compile"] = "no compiler: neither g++ nor clang++ is there";
    if (request.parity_seed >= 0) record(request.parity_seed, result);
    for (const std::string& id : request.levers) {
      if (plant.count(id) != 0) plant[id](result);
    }
    return result;
  }

 private:
  void record(int seed, TrialResult& result) const {
    for (int i = 0; i < 20; ++i) {
      result.losses.push_back(zero_losses ? 0 : 2.3 - 0.02 * i + 0.01 * seed);
      result.gradient_norms.push_back(zero_losses ? 0 : 1.0 + 0.01 * seed);
      result.rows.push_back(16);
    }
  }
};

TuneResult found(PlantedJob& job, std::vector<std::string> only = {},
                 std::vector<Argument> arguments = {}) {
  SearchOptions options;
  options.only = std::move(only);
  options.arguments = std::move(arguments);
  options.cpus = 4;
  SearchListener listener;
  auto result = search(job, options, listener);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *std::move(result) : TuneResult();
}

const LeverResult& of(const TuneResult& result, const std::string& id) {
  const auto at = std::find_if(result.levers.begin(), result.levers.end(),
                               [&](const LeverResult& one) { return one.lever.id == id; });
  EXPECT_NE(at, result.levers.end()) << id;
  return *at;
}

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
  EXPECT_NEAR(result.noise_ratio, 0.08, 0.001);
  EXPECT_TRUE(result.kept.empty());
  EXPECT_NE(of(result, "channels_last").why.find("8.0 %"), std::string::npos);
}

TEST(Search, OfAGroupTheFastestIsKept) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.8;
  job.factor["matmul_precision"] = 0.6;
  const TuneResult result = found(job);
  EXPECT_EQ(result.kept, std::vector<std::string>{"matmul_precision"});
  EXPECT_NE(of(result, "bf16_autocast").why.find("matmul_precision"), std::string::npos);
}

TEST(Search, WhatGainsNothingBesideTheOthersIsLeftOut) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.factor["fused_optimizer"] = 0.7;
  // Together they are as fast as channels_last alone.
  job.plant["fused_optimizer"] = [](TrialResult& result) {
    if (result.mean_step_s > 0.005) return;
    for (double& step : result.steps_s) step /= 0.7;
    result.mean_step_s /= 0.7;
  };
  const TuneResult result = found(job, {"channels_last", "fused_optimizer"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"channels_last"});
  EXPECT_NE(of(result, "fused_optimizer").why.find("on top of channels_last"), std::string::npos);
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

TEST(Search, ABatchIsProposedAndNeverAccepted) {
  PlantedJob job;
  job.factor["batch=32"] = 1.2;
  job.plant["batch=32"] = [](TrialResult& result) { result.samples_per_step = 32; };
  const TuneResult result = found(job, {"batch"}, {{"batch", "--batch-size", 16}});
  EXPECT_TRUE(result.kept.empty());
  EXPECT_TRUE(of(result, "batch=32").proposed);
  EXPECT_NEAR(of(result, "batch=32").speedup->speedup, 2 / 1.2, 0.01);
  EXPECT_FALSE(of(result, "batch=64").proposed) << "as many samples a step as before";
}

TEST(Search, EndsWithTheBudgetAndSaysSo) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.most_runs = 9;  // two as it is, one with the lever, one without, five for the losses
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
