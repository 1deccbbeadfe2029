// What becomes of levers beside others. The jobs are modelled: what their steps take is arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

bool has(const std::vector<std::string>& levers, const char* id) {
  return std::find(levers.begin(), levers.end(), id) != levers.end();
}

TEST(Combination, WhatGainsNothingBesideTheOthersIsLeftOut) {
  PlantedJob job;
  job.factor["channels_last"] = 0.5;
  job.factor["fused_optimizer"] = 0.7;
  // Combination they are as fast as channels_last alone.
  job.plant["fused_optimizer"] = [](TrialResult& result) {
    if (result.mean_step_s > 0.005) return;
    for (double& step : result.steps_s) step /= 0.7;
    result.mean_step_s /= 0.7;
  };
  const TuneResult result = found(job, {"channels_last", "fused_optimizer"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"channels_last"});
  EXPECT_EQ(of(result, "fused_optimizer").why.kind, ReasonKind::kNoGainOnTop);
  EXPECT_TRUE(names(of(result, "fused_optimizer").why, "channels_last"));
}

TEST(Combination, WhatIsExactMayRoundBesideWhatRounds) {
  PlantedJob job;
  job.factor["bf16_autocast"] = 0.5;
  job.factor["kept_memory"] = 0.8;
  job.plant["bf16_autocast"] = [](TrialResult& result) {
    for (double& loss : result.losses) loss *= 1.01;
  };
  const TuneResult result = found(job, {"bf16_autocast", "kept_memory"});
  EXPECT_EQ(result.kept, (std::vector<std::string>{"bf16_autocast", "kept_memory"}));
}

TEST(Combination, WhatIsNotCertainByItselfIsTriedBesideWhatIsKept) {
  PlantedJob job;
  job.drift = 0.1;  // of 10 ms one is noise
  job.factor["fused_optimizer"] = 0.5;
  job.beside = [](const std::vector<std::string>& levers) {
    // 0.6 ms less in any case, and half as much less of another.
    const double step = has(levers, "fused_optimizer") ? 0.5 : 1;
    return (step - (has(levers, "matmul_precision") ? 0.06 : 0) -
            (has(levers, "channels_last") ? 0.005 : 0)) /
           step;
  };
  const TuneResult result = found(job, {"channels_last", "fused_optimizer", "matmul_precision"});
  EXPECT_EQ(result.kept, (std::vector<std::string>{"fused_optimizer", "matmul_precision"}));
  EXPECT_EQ(of(result, "matmul_precision").parity, Parity::kOk);
  EXPECT_EQ(of(result, "channels_last").why.kind, ReasonKind::kNoGainOnTop);
  EXPECT_TRUE(holds(of(result, "channels_last").why, ReasonKind::kNoCertainGain));
}

TEST(Combination, WhatIsSlowerByItselfIsTriedBesideWhatMayMakeUpForThat) {
  PlantedJob job;
  job.beside = [](const std::vector<std::string>& levers) {
    const bool kept_memory = has(levers, "kept_memory");
    if (has(levers, "bf16_autocast")) return kept_memory ? 0.5 : 1.3;
    return kept_memory ? 0.8 : 1;
  };
  StepShares shares = {.system = 0.3, .products = 0.6};
  job.finish = [&shares](const std::vector<std::string>&, TrialResult& result) {
    result.shares = shares;
  };
  const std::vector<std::string> only = {"bf16_autocast", "kept_memory"};
  const TuneResult result = found(job, only);
  EXPECT_LT(of(result, "bf16_autocast").speedup->high, 1);
  EXPECT_EQ(std::set<std::string>(result.kept.begin(), result.kept.end()),
            (std::set<std::string>{"bf16_autocast", "kept_memory"}));
  shares = {.optimizer = 0.95, .system = 0.3, .products = 0.02};
  EXPECT_EQ(found(job, only).kept, std::vector<std::string>{"kept_memory"}) << "too little to gain";
}

TEST(Combination, TwoThatGainNothingAloneAreTriedTogether) {
  for (const bool beside_another : {true, false}) {
    PlantedJob job;
    job.beside = [&](const std::vector<std::string>& levers) {
      const double step = beside_another && has(levers, "fused_optimizer") ? 0.6 : 1;
      const bool kept_memory = has(levers, "kept_memory");
      if (has(levers, "bf16_autocast")) return step * (kept_memory ? 0.7 : 1.05);
      return step;
    };
    StepShares shares = {.optimizer = 0.5, .system = 0.3, .products = 0.6};
    job.finish = [&shares](const std::vector<std::string>&, TrialResult& result) {
      result.shares = shares;
    };
    const std::vector<std::string> only = {"bf16_autocast", "fused_optimizer", "kept_memory"};
    const TuneResult result = found(job, only);
    std::set<std::string> expected = {"bf16_autocast", "kept_memory"};
    if (beside_another) expected.insert("fused_optimizer");
    EXPECT_EQ(std::set<std::string>(result.kept.begin(), result.kept.end()), expected);
    EXPECT_EQ(of(result, "bf16_autocast").why.kind, ReasonKind::kTogetherWith);
    EXPECT_TRUE(names(of(result, "bf16_autocast").why, "kept_memory"));
    shares = {.optimizer = 0.97, .system = 0.02, .products = 0.01};
    EXPECT_EQ(found(job, only).kept.size(), beside_another ? 1U : 0U) << "too little to gain";
  }
}

TEST(Combination, WhatMadeRoomIsTriedWhenTheOtherOfItsGroupGoes) {
  PlantedJob job;
  // Rounding is lucky once: it is tried first, and is not faster when it is measured again.
  int runs_beside = 0;
  job.beside = [&](const std::vector<std::string>& levers) {
    double step = has(levers, "fused_optimizer") ? 0.5 : 1;
    if (has(levers, "bf16_autocast")) step *= step < 1 ? 0.7 : 1.05;
    if (has(levers, "matmul_precision") && step < 1) step *= ++runs_beside <= 1 ? 0.8 : 1;
    return step;
  };
  job.finish = [](const std::vector<std::string>&, TrialResult& result) {
    result.shares = {.optimizer = 0.5, .system = 0.05, .products = 0.6};
  };
  const TuneResult result = found(job, {"bf16_autocast", "fused_optimizer", "matmul_precision"});
  EXPECT_EQ(std::set<std::string>(result.kept.begin(), result.kept.end()),
            (std::set<std::string>{"bf16_autocast", "fused_optimizer"}));
  EXPECT_EQ(of(result, "matmul_precision").why.kind, ReasonKind::kNoGainBesideAgain);
}

TEST(Combination, WhatWasRefusedIsTriedAgainBesideMore) {
  PlantedJob job;
  job.beside = [](const std::vector<std::string>& levers) {
    const bool fused = has(levers, "fused_optimizer");
    const bool precision = has(levers, "matmul_precision");
    double step = fused ? 0.5 : 1;
    if (fused && precision) step *= 0.8;
    if (has(levers, "kept_memory") && fused == precision) step *= 0.8;
    return step;
  };
  const TuneResult result = found(job, {"fused_optimizer", "matmul_precision", "kept_memory"});
  EXPECT_EQ(result.kept.size(), 3U) << "kept_memory gains nothing beside fused_optimizer alone";
}

TEST(Combination, WhatWasFasterBesideOthersOnceIsNotKeptWhereTheBudgetEnds) {
  const std::vector<std::string> only = {"fused_optimizer", "matmul_precision"};
  const auto planted = [] {
    PlantedJob job;
    job.drift = 0.1;
    job.beside = [](const std::vector<std::string>& levers) {
      const double step = has(levers, "fused_optimizer") ? 0.5 : 1;
      return step - (has(levers, "matmul_precision") ? 0.06 : 0);
    };
    return job;
  };
  PlantedJob whole = planted();
  EXPECT_EQ(found(whole, only).kept.size(), 2U);
  const auto proof =
      std::find_if(whole.made.begin(), whole.made.end(),
                   [](const std::string& label) { return label.starts_with("left_out."); });
  PlantedJob job = planted();
  job.most_runs = proof - whole.made.begin();
  const TuneResult result = found(job, only);
  EXPECT_EQ(result.kept, std::vector<std::string>{"fused_optimizer"});
  EXPECT_EQ(of(result, "matmul_precision").why.kind, ReasonKind::kNotMeasuredAgain);
  EXPECT_TRUE(names(of(result, "matmul_precision").why, "the budget"));
  EXPECT_GT(result.best->speedup, 1.9);
}

TEST(Combination, WhatMakesRoomForTheOthersStaysThoughItGainsNothingBesideThem) {
  PlantedJob job;
  job.beside = [](const std::vector<std::string>& levers) {
    const bool fused = has(levers, "fused_optimizer");
    const bool last = has(levers, "channels_last");
    if (fused && last) return 0.32;  // with and without matmul_precision
    return (has(levers, "matmul_precision") ? 0.5 : 1) * (fused || last ? 0.8 : 1);
  };
  const std::vector<std::string> only = {"channels_last", "fused_optimizer", "matmul_precision"};
  EXPECT_EQ(found(job, only).kept.size(), 2U);
  job.finish = [](const std::vector<std::string>& levers, TrialResult& result) {
    result.total_memory_bytes = 100;
    result.used_memory_bytes = 50;
    for (const std::string& id : levers) {
      result.used_memory_bytes += id == "matmul_precision" ? -30 : 23;
    }
  };
  EXPECT_EQ(found(job, only).kept.size(), 3U) << "without it 96 % of the memory are taken";
}

TEST(Combination, WhatFailsWhenItIsProvedMakesNoRoom) {
  PlantedJob job;
  job.drift = 0.1;
  job.beside = [](const std::vector<std::string>& levers) {
    const double step = has(levers, "fused_optimizer") ? 0.5 : 1;
    return step - (has(levers, "matmul_precision") ? 0.06 : 0);
  };
  job.finish = [&job](const std::vector<std::string>&, TrialResult& result) {
    if (job.made.back() == "left_out.matmul_precision.with") {
      result = {};
      result.ending = Ending::kCrashed;
    } else {
      result.total_memory_bytes = result.used_memory_bytes = 100;  // as the job as it is has it
    }
  };
  const TuneResult result = found(job, {"fused_optimizer", "matmul_precision"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"fused_optimizer"});
}

TEST(Combination, WhatMakesTheJobAsItIsNoisyHidesNoGainBesideWhatEndsThat) {
  PlantedJob job;
  int runs = 0;
  job.beside = [&runs](const std::vector<std::string>& levers) {
    const double fused = has(levers, "fused_optimizer") ? 0.9 : 1;
    return fused * (has(levers, "kept_memory") ? 0.5 : ++runs % 2 == 0 ? 1.2 : 1);
  };
  const TuneResult result = found(job, {"fused_optimizer", "kept_memory"});
  EXPECT_GT(result.noise_ratio, 0.15);
  EXPECT_EQ(std::set<std::string>(result.kept.begin(), result.kept.end()),
            (std::set<std::string>{"fused_optimizer", "kept_memory"}));
}

}  // namespace
}  // namespace unstarve::tune
