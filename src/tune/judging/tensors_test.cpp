#include "tune/judging/tensors.h"

#include <gtest/gtest.h>

#include "tune/testing/reasons.h"

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

ReasonKind judged(const ParityBaseline& baseline, const TrialResult& ours, Numerics numerics,
                  bool fewer_bits = false, double drift = 0) {
  return differs_in_tensors(baseline, ours, numerics, fewer_bits, drift).kind;
}

TEST(Tensors, WhatNobodyRecordedIsNotHeldAgainstALever) {
  EXPECT_EQ(judged({}, run(), Numerics::kExact), ReasonKind::kNone);
  EXPECT_NE(judged({run(), run(), {run()}}, {}, Numerics::kExact), ReasonKind::kNone);
  EXPECT_EQ(judged({run(), run(), {run()}}, run(), Numerics::kExact), ReasonKind::kNone);
}

TEST(Tensors, AWayMayBeOffByWhatRoundingDoes) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.013, -0.02, 0.01, 0.02};  // 9 % of its length
  const Reason off = differs_in_tensors(baseline, ours, Numerics::kExact, false, 0);
  EXPECT_EQ(off.kind, ReasonKind::kTensorWay);
  EXPECT_TRUE(names(off, "a.weight"));
  EXPECT_NEAR(figure(off, "share"), 0.09, 0.01);
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  ours.tensors["a.weight"].early = {0.02, -0.02, 0.01, 0.02};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding, true), ReasonKind::kNone)
      << "half the bits";
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding, false, 0.08), ReasonKind::kNone)
      << "as gradients do";
}

TEST(Tensors, AWayMayBeOffByWhatTheJobDiffersByItself) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.013, -0.02, 0.01, 0.02};
  baseline.same_again.tensors["a.weight"].early = {0.008, -0.02, 0.01, 0.02};
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), ReasonKind::kNone);
}

TEST(Tensors, WhatIsPulledByRoundingAloneGoesAnyWay) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.bias"].early = {-0.01, 0.01, 0.01, 0.01};
  ours.tensors["a.bias: exp_avg"].early = {0, 1e-6, 0, 0};
  ours.tensors["a.bias: exp_avg"].end = 1e-6;
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), ReasonKind::kNone);
  ours.tensors["a.bias"].gradients = std::string(20, '1');
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), ReasonKind::kNone) << "of zero";
  ours.tensors["a.bias"].gradients = std::string(20, '0');
  EXPECT_NE(judged(baseline, ours, Numerics::kExact), ReasonKind::kNone) << "none at all";
}

TEST(Tensors, WhereAnOptimizerKeepsMomentsTheyTellTheWay) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {0.02, -0.02, 0.01, 0.02};  // a third, by chance
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  const TensorDigest moment = {400, 0, 0, {0.5, 0.5, -0.5, 0.5}, 1, ""};
  for (TrialResult* const result : {&baseline.same, &baseline.same_again, &ours}) {
    result->tensors["a.weight: exp_avg"] = moment;
  }
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  ours.tensors["a.weight: exp_avg"].early = {0.5, 0.5, 0.5, 0.5};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  ours.tensors["a.weight: exp_avg"] = moment;
  ours.tensors["a.weight"].early = {0, 0, 0, 0};
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone) << "it stands still";
}

TEST(Tensors, AtTheEndAWayIsAboutAsLong) {
  ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["mean"].end = 1.5;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), ReasonKind::kTensorMoved);
  baseline.other_seeds[0].tensors["mean"].end = 0.8;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone) << "so do other seeds";
}

TEST(Tensors, GradientsComeInTheSameSteps) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].gradients[3] = '0';
  EXPECT_EQ(judged(baseline, ours, Numerics::kExact), ReasonKind::kTensorGradients);
  EXPECT_EQ(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone)
      << "an expert that another is close to";
  for (std::size_t i = 0; i < 6; ++i) ours.tensors["a.weight"].gradients[i] = '1';
  EXPECT_NE(judged(baseline, ours, Numerics::kRounding), ReasonKind::kNone);
  EXPECT_NE(judged(baseline, ours, Numerics::kRedrawn), ReasonKind::kNone)
      << "layers that are left out by chance";
}

TEST(Tensors, OtherDrawsGoAnotherWayAndAsFar) {
  const ParityBaseline baseline = {run(), run(), {run()}};
  TrialResult ours = run();
  ours.tensors["a.weight"].early = {-0.01, 0.02, 0.01, 0.02};
  ours.tensors["a.weight"].end = 0.12;
  EXPECT_EQ(judged(baseline, ours, Numerics::kRedrawn), ReasonKind::kNone);
  ours.tensors["a.weight"].end = 0;
  EXPECT_NE(judged(baseline, ours, Numerics::kRedrawn), ReasonKind::kNone);
}

TEST(Calls, AreAsManyAndDrawAsMuch) {
  TrialResult same = run();
  same.calls = {1, 1};
  same.numbers = {96, 96};
  same.generators = {{"torch", 1}, {"cuda:0", 2}};
  ParityBaseline baseline = {same, same, {same}};
  EXPECT_EQ(differs_in_calls(baseline, same, Numerics::kExact).kind, ReasonKind::kNone);
  TrialResult ours = same;
  ours.calls = {2, 2};
  EXPECT_NE(differs_in_calls(baseline, ours, Numerics::kRounding).kind, ReasonKind::kNone);
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRegrouped).kind, ReasonKind::kNone)
      << "that is what it does";
  ours = same;
  ours.generators["cuda:0"] = 3;
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kExact).kind, ReasonKind::kOtherDraws);
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRounding).kind, ReasonKind::kNone)
      << "another kernel's draws";
  ours.generators["torch"] = 3;
  EXPECT_NE(differs_in_calls(baseline, ours, Numerics::kRounding).kind, ReasonKind::kNone);
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kRedrawn).kind, ReasonKind::kNone);
  baseline.same_again.generators["torch"] = 5;
  ours.generators["cuda:0"] = 2;
  EXPECT_EQ(differs_in_calls(baseline, ours, Numerics::kExact).kind, ReasonKind::kNone)
      << "it does so by itself";
}

}  // namespace
}  // namespace unstarve::tune
