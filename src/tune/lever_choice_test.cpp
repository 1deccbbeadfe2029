#include "tune/lever_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tune/testing/planted_job.h"
#include "tune/testing/reasons.h"

namespace unstarve::tune {
namespace {

using testing::found;
using testing::of;
using testing::PlantedJob;

TEST(LeverChoice, WhatMayGainMostIsTriedFirst) {
  const auto first_of = [](StepShares shares) {
    PlantedJob job;
    job.finish = [shares](const std::vector<std::string>&, TrialResult& result) {
      result.shares = shares;
    };
    found(job, {"bf16_autocast", "fused_optimizer"});
    const auto first = std::find_if(job.made.begin(), job.made.end(), [](const std::string& label) {
      return label == "bf16_autocast" || label == "fused_optimizer";
    });
    return first == job.made.end() ? std::string() : *first;
  };
  EXPECT_EQ(first_of({}), "bf16_autocast") << "in the catalogue's order";
  EXPECT_EQ(first_of({.compute = 0.9, .launches = 0.1, .float_products = 0.8, .products = 0.8}),
            "bf16_autocast");
  EXPECT_EQ(first_of({.compute = 0.2, .launches = 0.7}), "fused_optimizer");
  EXPECT_EQ(first_of({.optimizer = 0.6, .products = 0.3}), "fused_optimizer") << "on a CPU";
}

/// A job on a CPU that spends such shares of a step.
PlantedJob with_shares(StepShares shares) {
  PlantedJob job;
  job.finish = [shares](const std::vector<std::string>&, TrialResult& result) {
    result.shares = shares;
  };
  return job;
}

TEST(LeverChoice, WhatEasesTooLittleIsNotTried) {
  PlantedJob job = with_shares({.optimizer = 0.01, .products = 0.9});
  const TuneResult result = found(job, {"fused_optimizer", "bf16_autocast"});
  const LeverResult& fused = of(result, "fused_optimizer");
  EXPECT_FALSE(fused.tried);
  EXPECT_EQ(fused.why.kind, ReasonKind::kTooSmall);
  EXPECT_TRUE(names(fused.why, "optimizer"));
  EXPECT_NEAR(figure(fused.why, "share"), 0.01, 1e-9);
  EXPECT_NEAR(*of(result, "bf16_autocast").at_most, 1 / (1 - 0.9 - 0.045), 1e-6);
}

TEST(LeverChoice, WhatEasesEnoughOfAShorterStepIsTried) {
  PlantedJob job = with_shares({.optimizer = 0.015, .products = 0.9});
  job.factor["bf16_autocast"] = 0.1;
  job.beside = [](const std::vector<std::string>& levers) {
    const bool both = levers.size() == 2;
    return both ? 0.86 : 1;  // a seventh of a step that is a tenth as long
  };
  const TuneResult result = found(job, {"fused_optimizer", "bf16_autocast"});
  EXPECT_EQ(result.kept, (std::vector<std::string>{"bf16_autocast", "fused_optimizer"}));
}

TEST(LeverChoice, WhatIsNotHereIsNotTried) {
  PlantedJob job;
  const TuneResult result = found(job, {"tcmalloc"});
  EXPECT_FALSE(of(result, "tcmalloc").tried);
  EXPECT_TRUE(names(of(result, "tcmalloc").why, "libtcmalloc-minimal4"));
}

TEST(LeverChoice, WhatIsTriedBesideOthersFirstMayDoNoLessWork) {
  PlantedJob job = with_shares({.optimizer = 0.015, .products = 0.9});
  job.factor["bf16_autocast"] = 0.1;
  job.beside = [](const std::vector<std::string>& levers) { return levers.size() == 2 ? 0.86 : 1; };
  job.plant["fused_optimizer"] = [](TrialResult& result) { result.backwards_per_step = 0.5; };
  const TuneResult result = found(job, {"fused_optimizer", "bf16_autocast"});
  EXPECT_EQ(result.kept, std::vector<std::string>{"bf16_autocast"});
  EXPECT_TRUE(holds(of(result, "fused_optimizer").why, ReasonKind::kOtherPasses));
}

}  // namespace
}  // namespace unstarve::tune
