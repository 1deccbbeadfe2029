#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gate/judging/evidence.h"
#include "gate/judging/judgement.h"

namespace unstarve::gate {
namespace {

TEST(Evidence, OfConsistentValuesIsLargeAndOfOppositeOnesSmall) {
  EXPECT_GT(evidence_above_zero(std::vector<double>{0.10, 0.11, 0.09}), 20);
  EXPECT_LT(evidence_above_zero(std::vector<double>{-0.10, -0.11, -0.09}), 0.05);
  EXPECT_LT(evidence_above_zero(std::vector<double>{0.1, -0.1, 0.1, -0.1}), 1);
  EXPECT_EQ(evidence_above_zero(std::vector<double>{0.1}), 1);
  EXPECT_EQ(evidence_above_zero(std::vector<double>{0, 0, 0}), 1);
  EXPECT_TRUE(std::isfinite(evidence_above_zero(std::vector<double>{0.1, 0.1, 0.1})));
}

TEST(Evidence, DoesNotDependOnTheUnit) {
  const std::vector<double> values = {0.3, 0.1, 0.25, 0.2};
  std::vector<double> larger = values;
  for (double& value : larger) value *= 1000;
  EXPECT_NEAR(evidence_above_zero(values), evidence_above_zero(larger), 1e-6);
}

/// The share of sequences in which evidence of 20 is ever seen within 12 values.
template <class Next>
double crossings(Next next) {
  constexpr int kSequences = 2000;
  int crossed = 0;
  for (int i = 0; i < kSequences; ++i) {
    std::vector<double> values;
    bool seen = false;
    for (int n = 0; n < 12; ++n) {
      values.push_back(next());
      seen = seen || (n >= 2 && evidence_above_zero(values) >= 20);
    }
    crossed += seen ? 1 : 0;
  }
  return static_cast<double>(crossed) / kSequences;
}

TEST(Evidence, IsSeenByChanceNoMoreOftenThanItSays) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  EXPECT_LE(crossings([&] { return normal(engine); }), 0.05);
  std::student_t_distribution<double> heavy(3);
  EXPECT_LE(crossings([&] { return heavy(engine); }), 0.05);
  EXPECT_GE(crossings([&] { return 2 + normal(engine); }), 0.95) << "an effect is seen";
}

TEST(Evidence, OfTwoSidesComparesTheirMeans) {
  const std::vector<double> a = {1.0, 1.01, 0.99, 1.0};
  EXPECT_GT(evidence_of_difference(a, std::vector<double>{1.1, 1.11, 1.09}), 20);
  EXPECT_LT(evidence_of_difference(a, std::vector<double>{0.99, 1.0, 1.01}), 1);
}

TEST(Evidence, TheDetectableEffectIsDetectedInFourOfFive) {
  std::mt19937_64 engine(2);
  std::normal_distribution<double> normal;
  const double effect = detectable_effect(12, 20);
  int seen = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values;
    for (int n = 0; n < 12; ++n) values.push_back(effect + normal(engine));
    seen += evidence_above_zero(values) >= 20 ? 1 : 0;
  }
  EXPECT_GT(seen, 750);
  EXPECT_LT(seen, 880);
}

/// Runs whose CPU time and step vary by `noise` around a mean.
std::vector<RunValues> runs_of(int runs, double cpu_ms, double noise, std::mt19937_64& engine) {
  std::normal_distribution<double> normal(0, noise);
  std::vector<RunValues> all;
  for (int i = 0; i < runs; ++i) {
    all.push_back({{"cpu_ms_per_sample", cpu_ms * std::exp(normal(engine))},
                   {"step_time", 1000 * std::exp(normal(engine))}});
  }
  return all;
}

/// Looks after every pair, as a gate does.
Judgement gate_of(const std::vector<RunValues>& a, const std::vector<RunValues>& b,
                  const JudgingOptions& options = {}) {
  for (std::size_t n = 3; n < a.size(); ++n) {
    const Judgement now =
        judge({a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n)},
              {b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n)}, options, false);
    if (now.is_final) return now;
  }
  return judge(a, b, options, true);
}

TEST(Judgement, OfTheSameHoldsAndOfATenthMoreDoesNot) {
  std::mt19937_64 engine(3);
  int alarms = 0, undecided = 0, caught = 0;
  constexpr int kGates = 200;
  for (int i = 0; i < kGates; ++i) {
    const auto a = runs_of(12, 4, 0.02, engine);
    const Judgement same = gate_of(a, runs_of(12, 4, 0.02, engine));
    alarms += same.decision == Decision::kRegressed ? 1 : 0;
    undecided += same.decision == Decision::kUndecided ? 1 : 0;
    caught += gate_of(a, runs_of(12, 4.4, 0.02, engine)).decision == Decision::kRegressed ? 1 : 0;
  }
  EXPECT_LE(alarms, kGates * 5 / 100);
  EXPECT_LE(undecided, kGates / 10);
  EXPECT_GE(caught, kGates * 95 / 100);
}

TEST(Judgement, AMeasureThatVariesTooMuchAbstainsByName) {
  std::mt19937_64 engine(4);
  auto a = runs_of(12, 4, 0.005, engine);
  auto b = runs_of(12, 4, 0.005, engine);
  std::normal_distribution<double> wild(0, 0.4);
  for (auto* const side : {&a, &b}) {
    for (RunValues& run : *side) run["step_time"] = 1000 * std::exp(wild(engine));
  }
  const Judgement found = gate_of(a, b);
  EXPECT_EQ(found.decision, Decision::kHolds);
  ASSERT_EQ(found.measures.size(), 2U);
  EXPECT_EQ(found.measures[1].id, "step_time");
  EXPECT_EQ(found.measures[1].state, MeasureState::kAbstains);
  EXPECT_GT(found.measures[1].detectable, 0.2);
}

TEST(Judgement, WhatTheUserAskedForIsUndecidedRatherThanLeftOut) {
  std::mt19937_64 engine(5);
  JudgingOptions options;
  options.limits = *compare::parse_limits("step_time>1%");
  const Judgement found =
      gate_of(runs_of(12, 4, 0.2, engine), runs_of(12, 4, 0.2, engine), options);
  EXPECT_EQ(found.decision, Decision::kUndecided);
  options.limits = *compare::parse_limits("gpu_ms_per_step>1%");
  const Judgement absent =
      judge(runs_of(3, 4, 0.01, engine), runs_of(3, 4, 0.01, engine), options, false);
  EXPECT_EQ(absent.absent, std::vector<std::string>{"gpu_ms_per_step"});
  EXPECT_TRUE(absent.is_final);
}

TEST(Judgement, ALimitOfAValueIsJudgedByThatSideAlone) {
  std::mt19937_64 engine(6);
  JudgingOptions options;
  options.limits = *compare::parse_limits("cpu_ms_per_sample>5");
  EXPECT_EQ(gate_of(runs_of(6, 4, 0.01, engine), runs_of(6, 4, 0.01, engine), options).decision,
            Decision::kHolds);
  EXPECT_EQ(gate_of(runs_of(6, 9, 0.01, engine), runs_of(6, 6, 0.01, engine), options).decision,
            Decision::kRegressed);
}

TEST(Judgement, MoreCpuForAFasterStepIsATrade) {
  std::mt19937_64 engine(7);
  const auto a = runs_of(12, 4, 0.01, engine);
  auto b = runs_of(12, 5, 0.01, engine);
  EXPECT_EQ(gate_of(a, b).decision, Decision::kRegressed);
  for (RunValues& run : b) run["step_time"] *= 0.7;
  const Judgement found = gate_of(a, b);
  EXPECT_EQ(found.decision, Decision::kHolds);
  EXPECT_EQ(found.measures[0].state, MeasureState::kTraded);
}

TEST(Judgement, LessOfWhatIsGoodIsARegression) {
  JudgingOptions options;
  options.limits = *compare::parse_limits("samples_per_s<-5%");
  const auto runs = [](double rate) {
    return std::vector<RunValues>{{{"samples_per_s", rate}},
                                  {{"samples_per_s", rate * 1.01}},
                                  {{"samples_per_s", rate * 0.99}},
                                  {{"samples_per_s", rate}}};
  };
  EXPECT_EQ(gate_of(runs(1000), runs(800), options).decision, Decision::kRegressed);
  EXPECT_EQ(gate_of(runs(1000), runs(1100), options).decision, Decision::kHolds);
}

}  // namespace
}  // namespace unstarve::gate
