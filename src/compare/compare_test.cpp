#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compare/change/change.h"
#include "compare/comparison.h"
#include "compare/limits.h"
#include "compare/moved.h"
#include "compare/run/changed_lines.h"
#include "compare/work_cost.h"

namespace unstarve::compare {
namespace {

const Measure& step_time() { return *measure_named("step_time"); }

/// Blocks of four steps each; `step_s` is the time of a step in each block.
std::vector<StepBlock> blocks_of(const std::vector<double>& step_s) {
  std::vector<StepBlock> blocks;
  for (const double s : step_s) {
    StepBlock block;
    block.of(Amount::kSteps) = 4;
    block.of(Amount::kWall) = 4 * s;
    block.of(Amount::kSamples) = 64;
    block.of(Amount::kSampledWall) = 4 * s;
    blocks.push_back(block);
  }
  return blocks;
}

/// So many blocks whose steps take `s`, and by turns 1 % more and less.
std::vector<StepBlock> steady(double s, int blocks = 16) {
  std::vector<double> steps;
  for (int i = 0; i < blocks; ++i) steps.push_back(s * (i % 2 == 0 ? 1.01 : 0.99));
  return blocks_of(steps);
}

TEST(Change, OfOnePairIsWithinWhatTheStepsSay) {
  const auto change = change_between(step_time(), {steady(0.1)}, {steady(0.11)});
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->value, 0.1, 1e-9);
  EXPECT_TRUE(change->is_certain());
  EXPECT_GT(*change->low, 0.08);
  EXPECT_LT(*change->high, 0.12);
  EXPECT_FALSE(noise_of(step_time(), {steady(0.1)}, {steady(0.11)}));
}

TEST(Change, TheNoiseBetweenRunsIsInTheInterval) {
  // Runs of the same thing differ by a tenth: a change of a tenth is no news.
  const Runs a = {steady(0.1), steady(0.11)};
  const Runs b = {steady(0.11), steady(0.12)};
  const auto change = change_between(step_time(), a, b);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->is_certain());
  EXPECT_NEAR(*noise_of(step_time(), a, b), 0.0645, 0.001);
}

TEST(Change, StepsThatGoTogetherAreComparedInPairs) {
  // The data decide how long a step takes, by a factor of four; the change is a twentieth.
  std::vector<double> before, after;
  for (int i = 0; i < 16; ++i) {
    before.push_back(0.1 * (1 + i % 4));
    after.push_back(0.105 * (1 + i % 4));
  }
  const auto change = change_between(step_time(), {blocks_of(before)}, {blocks_of(after)});
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->is_certain());
  EXPECT_NEAR(*change->low, 0.05, 1e-6);
  std::reverse(after.begin(), after.end());
  EXPECT_FALSE(change_between(step_time(), {blocks_of(before)}, {blocks_of(after)})->is_certain());
}

TEST(Change, OfWhatOneSideDoesNotSayIsAbsent) {
  const Measure& cpu = *measure_named("cpu_ms_per_step");
  EXPECT_FALSE(change_between(cpu, {steady(0.1)}, {steady(0.1)}));
  EXPECT_FALSE(value_of(cpu, steady(0.1)));
}

MeasuredRun run_of(std::vector<StepBlock> blocks, double input_wait) {
  MeasuredRun run;
  run.name = "run";
  run.blocks = std::move(blocks);
  run.parts = {{"input_wait", input_wait}, {"gpu_compute", 1 - input_wait}};
  run.parts_of_gpu = true;
  return run;
}

Side side_of(MeasuredRun run) {
  Side side;
  side.name = run.name;
  side.runs.push_back(std::move(run));
  return side;
}

TEST(Comparison, NamesThePartThatMovedAndTheWorkersBehindIt) {
  // 50 ms of computing in both; the wait goes from 10 to 40 ms.
  MeasuredRun before = run_of(steady(0.06), 1.0 / 6);
  MeasuredRun after = run_of(steady(0.09), 4.0 / 9);
  before.signals.num_workers = 4;
  after.signals.num_workers = 2;
  const Comparison found = compare(side_of(before), side_of(after));
  ASSERT_TRUE(found.moved);
  EXPECT_EQ(found.moved->part.part, "input_wait");
  EXPECT_NEAR(found.moved->part.change_us(), 30'000, 1);
  ASSERT_TRUE(found.moved->reason);
  EXPECT_EQ(found.moved->reason->kind, MovedBy::kWorkers);
  EXPECT_EQ(found.moved->reason->b, 2);
  after.signals.num_workers = WhyAbsent::kNotObserved;
  EXPECT_FALSE(compare(side_of(before), side_of(after)).moved->reason) << "of a trace";
}

TEST(Moved, WaitsForDataThatAReadBackUncoversAreTheReadBacks) {
  MeasuredRun before = run_of(steady(0.06), 0.1);
  MeasuredRun after = run_of(steady(0.09), 0.4);
  before.signals.num_workers = after.signals.num_workers = 0;
  before.signals.syncs_per_step = 0;
  after.signals.syncs_per_step = 1;
  const Comparison found = compare(side_of(before), side_of(after));
  ASSERT_TRUE(found.moved && found.moved->reason);
  EXPECT_EQ(found.moved->part.part, "input_wait");
  EXPECT_EQ(found.moved->reason->kind, MovedBy::kSyncs);
  EXPECT_EQ(found.moved->reason->b, 1);
  after.signals.syncs_per_step = 0;
  EXPECT_FALSE(compare(side_of(before), side_of(after)).moved->reason);
}

TEST(Moved, LoadingIsNoReasonForAWaitThatGrewFarMore) {
  // A sample waits 0.375 ms before and 2.25 ms after, and takes 0.010 and 0.012 ms to load.
  const auto loading = [](double step_s, double ms) {
    std::vector<StepBlock> blocks = steady(step_s);
    for (StepBlock& block : blocks) {
      block.of(Amount::kFetched) = 64;
      block.of(Amount::kTransformCpu) = 64 * ms * 1e-3;
      block.of(Amount::kFetchCpu) = 64 * ms * 1e-3;
    }
    return blocks;
  };
  MeasuredRun before = run_of(loading(0.06, 0.010), 0.1);
  MeasuredRun after = run_of(loading(0.09, 0.012), 0.4);
  before.signals.num_workers = after.signals.num_workers = 0;
  before.signals.syncs_per_step = 0;
  after.signals.syncs_per_step = 1;
  const Comparison found = compare(side_of(before), side_of(after));
  ASSERT_TRUE(found.moved && found.moved->reason);
  EXPECT_EQ(found.moved->reason->kind, MovedBy::kSyncs);
  after.signals.syncs_per_step = 0;
  EXPECT_FALSE(compare(side_of(before), side_of(after)).moved->reason);
  const Comparison loaded = compare(side_of(before), side_of(run_of(loading(0.09, 2), 0.4)));
  ASSERT_TRUE(loaded.moved && loaded.moved->reason);
  EXPECT_EQ(loaded.moved->reason->kind, MovedBy::kStage);
}

TEST(Moved, APartIsNamedWhereItGrewWhateverTheWholeDid) {
  const Side a = side_of(run_of(steady(0.06), 0.5));
  const Side b = side_of(run_of(steady(0.06), 0.25));
  const auto parts = part_times(a, b, 60'000, 60'000);
  const auto grown = grown_part(a, b, parts, "gpu_compute");
  ASSERT_TRUE(grown);
  EXPECT_NEAR(grown->part.change_us(), 15'000, 1);
  EXPECT_FALSE(grown_part(a, b, parts, "input_wait")) << "it shrank";
  EXPECT_FALSE(grown_part(a, b, parts, "sync")) << "nobody has it";
}

TEST(Comparison, NamesTheStageOfLoadingThatTakesLonger) {
  const auto with_fetches = [](double step_s, double decode_s) {
    std::vector<StepBlock> blocks = steady(step_s);
    for (StepBlock& block : blocks) {
      block.of(Amount::kFetched) = 64;
      block.of(Amount::kDecodeCpu) = 64 * decode_s;
      block.of(Amount::kTransformCpu) = 64 * 0.001;
      block.of(Amount::kFetchCpu) = 64 * (decode_s + 0.001);
    }
    return blocks;
  };
  const Comparison found = compare(side_of(run_of(with_fetches(0.06, 0.002), 1.0 / 6)),
                                   side_of(run_of(with_fetches(0.09, 0.004), 4.0 / 9)));
  ASSERT_TRUE(found.moved && found.moved->reason);
  EXPECT_EQ(found.moved->reason->kind, MovedBy::kStage);
  EXPECT_EQ(found.moved->reason->what, "decoding");
  EXPECT_NEAR(found.moved->reason->b, 4, 1e-9);
}

TEST(Comparison, NothingMovedWhereTheTimeDoesNotCertainlyDiffer) {
  const Comparison found =
      compare(side_of(run_of(steady(0.06), 0.5)), side_of(run_of(steady(0.06), 0.4)));
  EXPECT_FALSE(found.moved);
}

TEST(Comparison, StepsOfOtherSizesAreComparedBySample) {
  std::vector<StepBlock> twice = steady(0.11);
  for (StepBlock& block : twice) block.of(Amount::kSamples) *= 2;
  const Comparison found = compare(side_of(run_of(steady(0.1), 0)), side_of(run_of(twice, 0)));
  EXPECT_TRUE(found.by_sample);
  EXPECT_NEAR(found.time().change->value, 0.55 - 1, 1e-9);
}

TEST(Comparison, PartsOfOtherKindsAreNotCompared) {
  MeasuredRun on_cpu = run_of(steady(0.2), 0.5);
  on_cpu.parts_of_gpu = false;
  const Comparison found = compare(side_of(run_of(steady(0.1), 0.5)), side_of(on_cpu));
  EXPECT_TRUE(found.parts.empty());
  EXPECT_FALSE(found.moved);
}

/// Two GPUs of 200 W that train for an hour, of which the steps of `blocks` are a part.
MeasuredRun run_with_usage(std::vector<StepBlock> blocks) {
  MeasuredRun run = run_of(std::move(blocks), 0);
  run.usage.seconds = {10, 3600, 0};
  run.usage.ranks = 2;
  cost::UsedGpu gpu;
  gpu.seconds = run.usage.seconds;
  gpu.energy = {{{1.0, 1}, {200.0 * 3600, 1}, {0.0, 1}}};
  run.usage.gpus = {gpu, gpu};
  return run;
}

TEST(WorkCost, IsOfAThousandSamplesAndOfAMonth) {
  // A: 4 steps of 0.1 s for 64 samples of each of two ranks; B takes half of that.
  cost::Rates rates = cost::default_rates();
  rates.price = cost::Rate{3, "--price"};
  const WorkCost cost =
      work_cost(side_of(run_with_usage(steady(0.1))), side_of(run_with_usage(steady(0.05))), rates);
  EXPECT_TRUE(cost.of_samples);
  const double hours = 1000 * 0.1 * 4 / 64 / 3600;  // 2 GPUs, and as many samples by their ranks
  EXPECT_NEAR(*cost.a.gpu_hours, hours, 1e-12);
  EXPECT_NEAR(*cost.b.gpu_hours, hours / 2, 1e-12);
  EXPECT_NEAR(*cost.a.usd, 3 * hours, 1e-12);
  EXPECT_NEAR(*cost.a.kwh, 0.2 * hours, 1e-12);
  EXPECT_NEAR(*cost.month.gpu_hours, 2 * 730 * 0.5, 1e-6);
  EXPECT_NEAR(*cost.month.usd, 3 * 730, 1e-6);
}

TEST(WorkCost, OfStepsWhereNobodySaysSamplesAndAbsentWithoutAGpu) {
  std::vector<StepBlock> silent = steady(0.1);
  for (StepBlock& block : silent) block.of(Amount::kSamples) = block.of(Amount::kSampledWall) = 0;
  const WorkCost cost = work_cost(side_of(run_with_usage(silent)), side_of(run_with_usage(silent)),
                                  cost::default_rates());
  EXPECT_FALSE(cost.of_samples);
  EXPECT_NEAR(*cost.a.gpu_hours, 2 * 1000 * 0.1 / 3600, 1e-12);
  EXPECT_FALSE(cost.a.usd) << "the GPU's name is not known";
  const WorkCost none = work_cost(side_of(run_of(steady(0.1), 0)), side_of(run_of(steady(0.1), 0)),
                                  cost::default_rates());
  EXPECT_FALSE(none.a.gpu_hours);
  EXPECT_FALSE(none.month.gpu_hours);
}

TEST(Settings, WhatOneRunDoesNotSayIsNoDifference) {
  RunSettings a, b;
  a.settings = {{SettingGroup::kVersions, "torch", "2.7"},
                {SettingGroup::kEnvironment, "OMP", "1"}};
  b.settings = {};
  EXPECT_TRUE(differences(a, b).empty());
  a.whole_groups = b.whole_groups = {SettingGroup::kEnvironment};
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "OMP");
  EXPECT_EQ(found[0].b, "");
}

TEST(Settings, RoofsThatDifferByNoMoreThanTheirNoiseAreTheSame) {
  RunSettings a, b;
  a.settings = {{SettingGroup::kRoofs, "memory.copy", "40 GB/s", 40e9},
                {SettingGroup::kRoofs, "disk.sequential", "2 GB/s", 2e9}};
  b.settings = {{SettingGroup::kRoofs, "memory.copy", "39 GB/s", 39e9},
                {SettingGroup::kRoofs, "disk.sequential", "1 GB/s", 1e9},
                {SettingGroup::kRoofs, "gpu.0.hbm.copy", "2 TB/s", 2e12}};
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "disk.sequential");
  EXPECT_EQ(found[0].b, "1 GB/s");
}

TEST(Limits, AreReadAsTheyAreWritten) {
  const auto limits = parse_limits(
      "step_time>5%, au<90%,input_wait>+10%,cpu_ms_per_sample>2.5,gpu_memory_bytes>3%");
  ASSERT_TRUE(limits) << limits.error().message;
  ASSERT_EQ(limits->size(), 5U);
  EXPECT_TRUE((*limits)[0].relative);
  EXPECT_DOUBLE_EQ((*limits)[0].value, 0.05);
  EXPECT_FALSE((*limits)[1].relative);
  EXPECT_FALSE((*limits)[1].above);
  EXPECT_TRUE((*limits)[2].relative);
  EXPECT_FALSE((*limits)[3].relative);
  for (const char* const wrong :
       {"", "step_time", "steptime>5%", "au<x%", "au<", "step_time>5%%"}) {
    EXPECT_FALSE(parse_limits(wrong)) << wrong;
  }
}

TEST(Limits, AChangeByChanceBreaksNone) {
  const auto judge_one = [](const char* limit, const Comparison& comparison) {
    return judge(parse_limits(limit)->front(), comparison);
  };
  const Comparison slower =
      compare(side_of(run_of(steady(0.1), 0.2)), side_of(run_of(steady(0.11), 0.3)));
  EXPECT_EQ(judge_one("step_time>5%", slower), Held::kBroken);
  EXPECT_EQ(judge_one("step_time>15%", slower), Held::kHolds);
  EXPECT_EQ(judge_one("step_time>100000", slower), Held::kBroken);
  EXPECT_EQ(judge_one("au<90%", slower), Held::kNotCompared);
  Side noisy_a = side_of(run_of(steady(0.1), 0.2));
  noisy_a.runs.push_back(run_of(steady(0.12), 0.2));
  EXPECT_EQ(judge_one("step_time>1%", compare(noisy_a, side_of(run_of(steady(0.12), 0.3)))),
            Held::kHolds);
}

TEST(ChangedLines, AreThoseOfADiff) {
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(changed_lines("a\nb\nc\nd\n", "a\nB\nc\nd\n"), "@@ line 2 @@\n a\n-b\n+B\n c\n");
  EXPECT_EQ(changed_lines("a\n", "a\nb\n"), "@@ line 2 @@\n a\n+b\n");
  EXPECT_EQ(changed_lines("", "x"), "@@ line 1 @@\n+x\n");
  EXPECT_EQ(changed_lines("1\n2\n3\n4\n5\n6\n7\n8\n", "0\n2\n3\n4\n5\n6\n7\n9\n"),
            "@@ line 1 @@\n-1\n+0\n 2\n@@ line 8 @@\n 7\n-8\n+9\n");
}

}  // namespace
}  // namespace unstarve::compare
