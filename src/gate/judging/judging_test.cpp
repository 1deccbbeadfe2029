#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gate/judging/judgement.h"
#include "gate/judging/sequential.h"
#include "gate/judging/student.h"

namespace unstarve::gate {
namespace {

TEST(Student, HasTheSharesOfPrintedTables) {
  EXPECT_NEAR(student_above(2.920, 2), 0.05, 1e-4);
  EXPECT_NEAR(student_above(2.718, 11), 0.01, 1e-5);
  EXPECT_NEAR(student_above(0, 7), 0.5, 1e-12);
  EXPECT_NEAR(student_above(-1.796, 11), 0.95, 1e-4);
  EXPECT_NEAR(student_bound(0.005, 11), 3.106, 1e-3);
  EXPECT_NEAR(student_bound(1e-6, 2), 707.1, 0.1);
}

TEST(Student, ConsistentValuesAreUnlikelyWhereNothingChanged) {
  EXPECT_LT(p_above_zero(std::vector<double>{0.10, 0.11, 0.09}), 0.002);
  EXPECT_GT(p_above_zero(std::vector<double>{-0.10, -0.11, -0.09}), 0.99);
  EXPECT_NEAR(p_above_zero(std::vector<double>{0.1, -0.1, 0.1, -0.1}), 0.5, 1e-9);
  EXPECT_EQ(p_above_zero(std::vector<double>{0.1}), 1);
  EXPECT_NEAR(p_above_zero(std::vector<double>{0, 0, 0}), 0.5, 1e-9);
  EXPECT_LT(p_above_zero(std::vector<double>{0.1, 0.1, 0.1}), 1e-9);
  const std::vector<double> values = {0.3, 0.1, 0.25, 0.2};
  std::vector<double> larger = values;
  for (double& value : larger) value *= 1000;
  EXPECT_NEAR(p_above_zero(values), p_above_zero(larger), 1e-12) << "whatever the unit";
}

TEST(Student, OfTwoSidesComparesTheirMeans) {
  const std::vector<double> a = {1.0, 1.01, 0.99, 1.0};
  EXPECT_LT(p_of_difference(a, std::vector<double>{1.1, 1.11, 1.09}), 1e-4);
  EXPECT_GT(p_of_difference(a, std::vector<double>{0.99, 1.0, 1.01}), 0.4);
}

std::vector<double> numbers(int from, int to) {
  std::vector<double> all;
  for (int i = from; i <= to; ++i) all.push_back(i);
  return all;
}

TEST(Sequential, OneLookHasTheWholeRateAndSeveralShareIt) {
  const std::vector<double> once = sequential_levels(std::vector<double>{5}, 0.05);
  EXPECT_NEAR(once.at(0), 0.0375, 1e-5) << "a quarter is kept for Student's t";
  // O'Brien and Fleming's bounds are near to those by the cube: 4.05, 2.86, 2.34, 2.02 for four
  // looks and 2.5 %. By the cube: 0.0390625 of the rate at the first quarter.
  const std::vector<double> four = sequential_levels(std::vector<double>{1, 2, 3, 4}, 0.025 / 0.75);
  EXPECT_NEAR(four.at(0), 0.025 / 64, 1e-6);
  EXPECT_GT(four.at(3), 0.018);
  EXPECT_LT(four.at(3), 0.025);
  for (std::size_t i = 1; i < four.size(); ++i) EXPECT_GT(four[i], four[i - 1]);
  EXPECT_EQ(sequential_levels(numbers(3, 300), 0.05).size(), 298U);
}

/// The share of sequences that decide at any look from the third to the twelfth value.
template <class Next>
double deciding(double rate, Next next) {
  const std::vector<double> levels = sequential_levels(numbers(3, 12), rate);
  constexpr int kSequences = 20'000;
  int decided = 0;
  for (int i = 0; i < kSequences; ++i) {
    std::vector<double> values = {next(), next()};
    bool does = false;
    for (const double level : levels) {
      values.push_back(next());
      does = does || p_above_zero(values) <= level;
    }
    decided += does ? 1 : 0;
  }
  return static_cast<double>(decided) / kSequences;
}

TEST(Sequential, DecidesByChanceNoMoreOftenThanItSays) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  EXPECT_LE(deciding(0.05, [&] { return normal(engine); }), 0.052);
  EXPECT_LE(deciding(0.01, [&] { return normal(engine); }), 0.012);
  std::student_t_distribution<double> heavy(3);
  EXPECT_LE(deciding(0.05, [&] { return heavy(engine); }), 0.05);
  EXPECT_GE(deciding(0.05, [&] { return 1 + normal(engine); }), 0.8) << "an effect is seen";
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

TEST(Judgement, OfPairsThatDifferByThreePercentSeesFivePercentInFourOfFive) {
  std::mt19937_64 engine(8);
  int alarms = 0, undecided = 0, caught = 0;
  constexpr int kGates = 400;
  constexpr double kNoise = 0.03 / 1.4142;  // of one run
  for (int i = 0; i < kGates; ++i) {
    const auto a = runs_of(12, 4, kNoise, engine);
    const Judgement same = gate_of(a, runs_of(12, 4, kNoise, engine));
    alarms += same.decision == Decision::kRegressed ? 1 : 0;
    undecided += same.decision == Decision::kUndecided ? 1 : 0;
    const auto slower = runs_of(12, 4 * 1.05, kNoise, engine);
    caught += gate_of(a, slower).decision == Decision::kRegressed ? 1 : 0;
  }
  EXPECT_LE(alarms, kGates * 7 / 100) << "5 % and the chance of 400 draws";
  EXPECT_LE(undecided, kGates / 10);
  EXPECT_GE(caught, kGates * 80 / 100);
}

TEST(Judgement, TheDetectableChangeIsDetectedInFourOfFive) {
  std::mt19937_64 engine(9);
  JudgingOptions options;
  options.limits = *compare::parse_limits("cpu_ms_per_sample>0%");
  constexpr double kNoise = 0.02;
  const Judgement first =
      judge(runs_of(12, 4, kNoise, engine), runs_of(12, 4, kNoise, engine), options, true);
  const double change =
      first.measures.at(0).detectable / first.measures.at(0).noise * kNoise * 1.4142;
  int seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const Judgement found = judge(runs_of(12, 4, kNoise, engine),
                                  runs_of(12, 4 * std::exp(change), kNoise, engine), options, true);
    seen += found.decision == Decision::kRegressed ? 1 : 0;
  }
  EXPECT_GT(seen, 700);
  EXPECT_LT(seen, 880);
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
  std::mt19937_64 engine(15);
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
