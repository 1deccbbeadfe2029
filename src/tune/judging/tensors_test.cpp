#include "tune/judging/tensors.h"

#include <gtest/gtest.h>

namespace unstarve::tune {
namespace {

/// Two layers, of which one's bias has no effect: its gradient is what rounding leaves.
TrialResult run() {
  const std::string each(20, '2');
  TrialResult result;
  result.tensors["a.weight"] = {400, 3, 0.5, {0.01, -0.02, 0.01, 0.02}, 0.1, each};
  result.tensors["a.bias"] = {4, 1, 1e-8, {0.01, 0.01, -0.01, 0.01}, 0.1, each};
  result.tensors["a.bias: exp_avg"] = {4, 0, 0, {1e-9, 0, 0, 0}, 1e-9, ""};
  result.tensors["mean"] = {4, 0, 0, {0.1, 0.1, 0.1, 0.1}, 0.4, ""};
  return result;
}

std::string judged(const ParityBaseline& baseline, const TrialResult& ours, Numerics numerics,
                   bool fewer_bits = false, double drift = 0) {
  return differs_in_tensors(baseline, ours, numerics, fewer_bits, drift);
}

TEST(Tensors, WhatNobodyRecordedIsNotHeldAgainstALever) {
  EXPECT_EQ(judged({}, run(), Numerics::kExact), "");
  EXPECT_NE(judged({run(), run(), {run()}}, {}, Numerics::kExact), "");
  EXPECT_EQ(judged({run(), run(), {run()}}, run(), Numerics::kExact), "");
}

TEST(Tensors, AWayMayBeOffByWhatRoundingDoes) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.013, -0.02, 0.01, 0.02};  // 9 % of its length
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact),
            "a.weight is 9 % of its way off behind the first steps");
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), "");
  ours.tensors["a.weight"].early = {0.02, -0.02, 0.01, 0.02};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), "");
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding, true), "") << "half the bits";
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding, false, 0.08), "") << "as gradients do";
}

TEST(Tensors, AWayMayBeOffByWhatTheJobDiffersByItself) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.013, -0.02, 0.01, 0.02};
  baseline.same_again.tensors["a.weight"].early = {0.008, -0.02, 0.01, 0.02};
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), "");
}

TEST(Tensors, WhatIsPulledByRoundingAloneGoesAnyWay) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.bias"].early = {-0.01, 0.01, 0.01, 0.01};
  ours.tensors["a.bias: exp_avg"].early = {0, 1e-6, 0, 0};
  ours.tensors["a.bias: exp_avg"].end = 1e-6;
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), "");
  ours.tensors["a.bias"].gradients = std::string(20, '1');
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), "") << "of zero";
  ours.tensors["a.bias"].gradients = std::string(20, '0');
  EXPECT_NE(judged(baseline, ours, Numerics::kExact), "") << "none at all";
}

TEST(Tensors, WhereAnOptimizerKeepsMomentsTheyTellTheWay) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.02, -0.02, 0.01, 0.02};  // a third, by chance
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), "");
  const TensorDigest moment = {400, 0, 0, {0.5, 0.5, -0.5, 0.5}, 1, ""};
  for (TrialResult* const result : {&baseline.same, &baseline.same_again, &ours}) {
    result->tensors["a.weight: exp_avg"] = moment;
  }
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), "");
  ours.tensors["a.weight: exp_avg"].early = {0.5, 0.5, 0.5, 0.5};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), "");
  ours.tensors["a.weight: exp_avg"] = moment;
  ours.tensors["a.weight"].early = {0, 0, 0, 0};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), "") << "it stands still";
}

TEST(Tensors, AtTheEndAWayIsAboutAsLong) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["mean"].end = 1.5;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding),
            "mean has moved by 1.5, and by 0.4 in the job as it is");
  baseline.other_seeds[0].tensors["mean"].end = 0.8;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), "") << "so do other seeds";
}

TEST(Tensors, GradientsComeInTheSameSteps) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].gradients[3] = '0';
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact),
            "a.weight gets a gradient in other steps: 1 of 20 differ");
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), "")
      << "an expert that another is close to";
  for (std::size_t i = 0; i < 6; ++i) ours.tensors["a.weight"].gradients[i] = '1';
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), "");
  EXPECT_NE(judged(baseline, ours, Numerics::kRedrawn), "") << "layers that are left out by chance";
}

TEST(Tensors, OtherDrawsGoAnotherWayAndAsFar) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {-0.01, 0.02, 0.01, 0.02};
  ours.tensors["a.weight"].end = 0.12;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRedrawn), "");
  ours.tensors["a.weight"].end = 0;
  EXPECT_NE(judged(baseline, ours, Numerics::kRedrawn), "");
}

TEST(Calls, AreAsManyAndDrawAsMuch) {
  TrialResult same = run();
  same.calls = {1, 1};
  same.numbers = {96, 96};
  same.generators = {{"torch", 1}, {"cuda:0", 2}};
  ParityBaseline baseline = {same, same, {same}};
  EXPECT_EQ(differs_in_calls(baseline, same, Numerics::kExact), "");
  TrialResult ours = same;
  ours.calls = {2, 2};
  EXPECT_NE(differs_in_calls(baseline, ours, Numerics::kRounding), "");
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRegrouped), "") << "that is what it does";
  ours = same;
  ours.generators["cuda:0"] = 3;
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kExact),
            "it draws other random numbers (cuda:0)");
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRounding), "") << "another kernel's draws";
  ours.generators["torch"] = 3;
  EXPECT_NE(differs_in_calls(baseline, ours, Numerics::kRounding), "");
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRedrawn), "");
  baseline.same_again.generators["torch"] = 5;
  ours.generators["cuda:0"] = 2;
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kExact), "") << "it does so by itself";
}

}  // namespace
}  // namespace unstarve::tune
