#include "tune/judging/parity.h"
#include "tune/testing/reasons.h"

#include <gtest/gtest.h>

#include <cmath>

namespace unstarve::tune {
namespace {

TrialResult recorded(double shift, double noise = 0) {
  TrialResult result;
  for (int i = 0; i < 20; ++i) {
    result.losses.push_back(2.0 - 0.03 * i + shift + (i % 2 == 0 ? noise : -noise));
    result.gradient_norms.push_back(1.0 + shift);
    result.rows.push_back(8);
  }
  return result;
}

ParityBaseline seeds() { return {recorded(0), recorded(0), {recorded(0.05), recorded(-0.05)}}; }

TEST(Parity, SmallRoundingHoldsForWhatMayRound) {
  EXPECT_EQ(judge_parity(seeds(), recorded(0.005), Numerics::kRounding).parity, Parity::kOk);
  EXPECT_EQ(judge_parity(seeds(), recorded(0.005), Numerics::kExact).parity, Parity::kFailed);
  EXPECT_EQ(judge_parity(seeds(), recorded(1e-5), Numerics::kExact).parity, Parity::kOk);
}

TEST(Parity, WhatDriftsOutOfTheSeedsBandFails) {
  TrialResult drifting = recorded(0);
  for (std::size_t i = 5; i < drifting.losses.size(); ++i) drifting.losses[i] += 0.3;
  const ParityVerdict verdict = judge_parity(seeds(), drifting, Numerics::kRounding);
  EXPECT_EQ(verdict.parity, Parity::kFailed);
  EXPECT_EQ(verdict.why.kind, ReasonKind::kLossLeavesBand);
  EXPECT_EQ(figure(verdict.why, "first_step"), 6);
  EXPECT_EQ(figure(verdict.why, "last_step"), 10);
}

// ImageNet's script of Lightning, SGD at 0.1: losses as they were seen, in channels_last too.
TEST(Parity, WhatRoundsMayGrowWhereSeedsDifferByMore) {
  const auto run = [](const std::vector<double>& first) {
    TrialResult result = recorded(0, 1.5);
    for (std::size_t i = 0; i < first.size(); ++i) result.losses[i] = first[i];
    return result;
  };
  const std::vector<double> job = {7.057, 4.762, 12.975, 19.488, 24.990};
  const ParityBaseline baseline = {
      run(job),
      run(job),
      {run({6.797, 4.772, 9.323, 7.820, 14.974}), run({6.653, 8.259, 13.335, 14.173, 7.884})}};
  const auto parity_of = [&](const std::vector<double>& first, Numerics numerics) {
    return judge_parity(baseline, run(first), numerics).parity;
  };
  const std::vector<double> rounded = {7.057, 4.754, 13.055, 18.354, 22.969};
  EXPECT_EQ(parity_of(rounded, Numerics::kRounding), Parity::kOk);
  EXPECT_EQ(parity_of(rounded, Numerics::kExact), Parity::kFailed);
  EXPECT_EQ(parity_of({7.4, 4.754, 13.055, 18.354, 22.969}, Numerics::kRounding), Parity::kFailed)
      << "nothing was learned before the first loss";
  EXPECT_EQ(parity_of({7.057, 4.754, 13.055, 18.354, 15.5}, Numerics::kRounding), Parity::kFailed);
}

TEST(Parity, OtherGradientsFailWhereTheLossIsTheSame) {
  TrialResult frozen = recorded(0);
  for (double& norm : frozen.gradient_norms) norm = 0.4;  // half of the model is not trained
  EXPECT_EQ(judge_parity(seeds(), frozen, Numerics::kRounding).parity, Parity::kFailed);
  frozen.gradient_norms.clear();
  EXPECT_EQ(judge_parity(seeds(), frozen, Numerics::kRounding).parity, Parity::kFailed);
}

TEST(Parity, NotFiniteAndMissingLossesFail) {
  TrialResult bad = recorded(0);
  bad.losses[19] = std::nan("");
  EXPECT_EQ(judge_parity(seeds(), bad, Numerics::kRounding).parity, Parity::kFailed);
  bad = recorded(0);
  bad.losses.pop_back();
  EXPECT_EQ(judge_parity(seeds(), bad, Numerics::kRounding).parity, Parity::kFailed);
  bad = recorded(0);
  bad.rows[3] = 4;
  EXPECT_EQ(judge_parity(seeds(), bad, Numerics::kRounding).parity, Parity::kFailed);
}

// An absolute tolerance of 0.01 would take any of these for the same.
TEST(Parity, SmallLossesAreHeldAgainstTheirSize) {
  const auto scaled = [](TrialResult result, double by) {
    for (double& loss : result.losses) loss *= by;
    for (double& norm : result.gradient_norms) norm *= by;
    return result;
  };
  const ParityBaseline small = {scaled(recorded(0), 1e-4),
                                scaled(recorded(0), 1e-4),
                                {scaled(recorded(0.01), 1e-4), scaled(recorded(-0.01), 1e-4)}};
  EXPECT_EQ(judge_parity(small, scaled(recorded(0), 1.3e-4), Numerics::kRounding).parity,
            Parity::kFailed);
  EXPECT_EQ(judge_parity(small, scaled(recorded(0), 1.001e-4), Numerics::kRounding).parity,
            Parity::kOk);
}

TEST(Parity, AJobThatDiffersFromItselfAllowsThatMuch) {
  ParityBaseline unsteady = seeds();
  unsteady.same_again = recorded(0, 0.1);
  EXPECT_EQ(judge_parity(unsteady, recorded(0, 0.15), Numerics::kRounding).parity, Parity::kOk);
  EXPECT_EQ(judge_parity(seeds(), recorded(0, 0.15), Numerics::kRounding).parity, Parity::kFailed);
}

TEST(Parity, ZeroAndUnseenLossesAreNotObserved) {
  ParityBaseline none = seeds();
  for (double& loss : none.same.losses) loss = 0;
  EXPECT_EQ(judge_parity(none, recorded(0), Numerics::kRounding).parity, Parity::kNotObserved);
  none.same.losses.clear();
  EXPECT_EQ(judge_parity(none, recorded(0), Numerics::kRounding).parity, Parity::kNotObserved);
}

TEST(Parity, OtherDrawsStayInTheBand) {
  EXPECT_EQ(judge_parity(seeds(), recorded(0.06), Numerics::kRedrawn).parity, Parity::kOk);
  EXPECT_EQ(judge_parity(seeds(), recorded(0.3), Numerics::kRedrawn).parity, Parity::kFailed);
}

TrialResult with_gradient(TrialResult result, std::vector<double> sketch) {
  result.gradient_sketch = std::move(sketch);
  return result;
}

TEST(Parity, AGradientOfTheSameLengthInAnotherDirectionFails) {
  ParityBaseline baseline = seeds();
  baseline.same.gradient_sketch = {3, 4, 0};
  const auto judged = [&](std::vector<double> sketch) {
    return judge_parity(baseline, with_gradient(recorded(0), std::move(sketch)),
                        Numerics::kRounding);
  };
  EXPECT_EQ(judged({3, 4, 0.2}).parity, Parity::kOk);
  const ParityVerdict turned = judged({4, 3, 0});
  EXPECT_EQ(turned.parity, Parity::kFailed);
  EXPECT_EQ(turned.why.kind, ReasonKind::kFirstGradientAway);
  EXPECT_TRUE(names(turned.why, "of the job as it is"));
  EXPECT_EQ(judged({}).parity, Parity::kFailed) << "it was not seen";
  EXPECT_EQ(judged({3, std::nan(""), 0}).parity, Parity::kFailed);
}

TEST(Parity, AJobThatRoundsItselfAllowsThreeTimesThatBesideFP64) {
  ParityBaseline baseline = seeds();
  baseline.reference = with_gradient(recorded(0), {3, 4, 0});
  const TrialResult candidate = with_gradient(recorded(0), {3, 4, 1});  // 20 % away
  baseline.same.gradient_sketch = {3, 4, 0.05};                         // 1 %: 13 % are allowed
  EXPECT_EQ(judge_parity(baseline, candidate, Numerics::kRounding).parity, Parity::kFailed);
  baseline.same.gradient_sketch = {3, 4, 0.4};  // 8 %: 34 % are
  EXPECT_EQ(judge_parity(baseline, candidate, Numerics::kRounding).parity, Parity::kOk);
}

TEST(Parity, WhereAModelMultipliesWhatIsRoundedTheLossesHaveToTell) {
  ParityBaseline baseline = seeds();
  baseline.reference = with_gradient(recorded(0), {3, 4, 0});
  baseline.same.gradient_sketch = {3, 4, 0.1};  // 2 %, in float32
  TrialResult rough = with_gradient(recorded(0), {-4, 3, 2});
  EXPECT_EQ(judge_parity(baseline, rough, Numerics::kRounding, true).parity, Parity::kOk);
  EXPECT_EQ(judge_parity(baseline, rough, Numerics::kRounding, false).parity, Parity::kFailed)
      << "float32 has no such excuse";
  for (std::size_t i = 5; i < rough.losses.size(); ++i) rough.losses[i] += 0.3;
  EXPECT_EQ(judge_parity(baseline, rough, Numerics::kRounding, true).parity, Parity::kFailed);
}

TEST(Parity, AnFP64ThatDrawsOtherNumbersIsNoReference) {
  ParityBaseline baseline = seeds();
  baseline.same.gradient_sketch = {3, 4, 0};
  baseline.reference = with_gradient(recorded(0), {-4, 1, 3});
  EXPECT_FALSE(has_reference(baseline));
  EXPECT_EQ(
      judge_parity(baseline, with_gradient(recorded(0), {3, 4, 0.1}), Numerics::kRounding).parity,
      Parity::kOk);
}

TEST(Parity, ManyLossesAreComparedInEightWindows) {
  const auto longer = [](double shift) {
    TrialResult result;
    for (int i = 0; i < 200; ++i) {
      result.losses.push_back(2.0 - 0.003 * i + shift * (i % 7 - 3));
      result.gradient_norms.push_back(1);
      result.rows.push_back(8);
    }
    return result;
  };
  const ParityBaseline baseline = {longer(0), longer(0), {longer(0.05), longer(-0.05)}};
  TrialResult late = longer(0);
  for (std::size_t i = 150; i < 200; ++i) late.losses[i] += 0.3;
  const ParityVerdict verdict = judge_parity(baseline, late, Numerics::kRounding);
  EXPECT_EQ(verdict.parity, Parity::kFailed);
  EXPECT_EQ(figure(verdict.why, "first_step"), 151);
  EXPECT_EQ(figure(verdict.why, "last_step"), 175);
}

}  // namespace
}  // namespace unstarve::tune
