#include "cost/cost.h"

#include <gtest/gtest.h>

namespace unstarve::cost {
namespace {

using diagnose::Cause;

constexpr std::array<double, diagnose::kCauseCount> kStarved = {0.2, 0.0, 0.1, 0.5,
                                                                0.0, 0.1, 0.0, 0.1};

/// Two GPUs for a minute of start-up, an hour of training and a minute behind it; 200 W each while
/// they train, 50 W before and behind. The job has 90 kJ of the processors' energy.
Usage two_gpus() {
  Usage usage;
  usage.seconds = {60, 3600, 60};
  usage.ranks = 2;
  for (int i = 0; i < 2; ++i) {
    UsedGpu gpu;
    gpu.index = i;
    gpu.name = "NVIDIA A100-SXM4-40GB";
    gpu.seconds = usage.seconds;
    gpu.energy = {{{50.0 * 60, 1}, {200.0 * 3600, 1}, {50.0 * 60, 1}}};
    gpu.shares = kStarved;
    usage.gpus.push_back(gpu);
  }
  usage.cpu = {{{0.0, 1}, {90e3, 1}, {0.0, 1}}};
  return usage;
}

Rates rates() {
  Rates rates = default_rates();
  rates.price = Rate{2, "a contract"};
  rates.carbon_g_per_kwh = {500, "a grid"};
  rates.pue = {1.2, "a site"};
  return rates;
}

TEST(Cost, IsTheSameByHand) {
  const Cost cost = cost_of(two_gpus(), rates(), Change{"more_workers", {2, 1.5, 2.5}, false});
  // 2 GPUs x 3720 s = 2.0667 h, for $2 each.
  EXPECT_NEAR(*cost.total.gpu_hours, 2 * 3720.0 / 3600, 1e-12);
  EXPECT_NEAR(*cost.total.usd, 2 * 2 * 3720.0 / 3600, 1e-12);
  // 2 x (3 + 720 + 3) kJ of the GPUs and 90 kJ of the processors, at the site 1.2 times as much.
  EXPECT_NEAR(*cost.all_gpus.kwh, 2 * 726e3 * 1.2 / 3.6e6, 1e-12);
  EXPECT_NEAR(*cost.total.kwh, (2 * 726e3 + 90e3) * 1.2 / 3.6e6, 1e-12);
  EXPECT_NEAR(*cost.total.co2_kg, *cost.total.kwh * 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(cost.covered_ratio, 1);
  // Of two GPU-hours of training 70 % are idle.
  EXPECT_NEAR(*cost.idle_ratio, 0.7, 1e-12);
  EXPECT_NEAR(*cost.idle.gpu_hours, 1.4, 1e-12);
  EXPECT_NEAR(*cost.idle.usd, 2.8, 1e-12);
  EXPECT_NEAR(*cost.idle.kwh, 0.7 * 2 * 720e3 * 1.2 / 3.6e6, 1e-12);
  EXPECT_NEAR(*cost.causes[static_cast<std::size_t>(Cause::kInputWait)].gpu_hours, 1, 1e-12);
  EXPECT_NEAR(*cost.phases[0].gpu_hours, 2 * 60.0 / 3600, 1e-12);
  // Twice as fast: half of two GPU-hours; in a month 730 of 1,460.
  ASSERT_TRUE(cost.given_back);
  EXPECT_NEAR(*cost.given_back->run.gpu_hours, 1, 1e-12);
  EXPECT_NEAR(*cost.given_back->month.gpu_hours, 730, 1e-9);
  EXPECT_NEAR(*cost.given_back->month.usd, 1460, 1e-9);
}

TEST(Cost, OfTheTrainingAddsUpOverCauses) {
  const Cost cost = cost_of(two_gpus(), rates(), std::nullopt);
  double hours = 0;
  for (const Amount& cause : cost.causes) hours += *cause.gpu_hours;
  EXPECT_NEAR(hours, 2, 1e-12);
  EXPECT_FALSE(cost.given_back);
}

TEST(Cost, OfARankThatEndsEarlierIsOfItsOwnTraining) {
  Usage usage = two_gpus();
  usage.gpus[1].seconds = {60, 1800, 1860};
  usage.gpus[1].shares = std::array<double, diagnose::kCauseCount>{1};
  const Cost cost = cost_of(usage, rates(), Change{"x", {2, 2, 2}, true});
  EXPECT_NEAR(*cost.phases[1].gpu_hours, 1.5, 1e-12);
  EXPECT_NEAR(*cost.idle.gpu_hours, 0.7, 1e-12);
  EXPECT_NEAR(*cost.idle_ratio, 0.7 / 1.5, 1e-12);
  EXPECT_NEAR(*cost.given_back->month.gpu_hours, 730, 1e-9);
}

TEST(Cost, WhatIsNotKnownIsAbsentAndNotZero) {
  Usage usage = two_gpus();
  usage.gpus[1].energy.fill({WhyAbsent::kNotSupported, 0});
  usage.gpus[1].shares = WhyAbsent::kNotObserved;
  usage.gpus[1].name = "Tesla T4";
  usage.cpu.fill({WhyAbsent::kNoPermission, 0});
  Rates by_name = default_rates();
  const Cost cost = cost_of(usage, by_name, std::nullopt);
  EXPECT_TRUE(cost.total.gpu_hours);
  EXPECT_EQ(cost.total.kwh.why_absent(), WhyAbsent::kNotSupported);
  EXPECT_FALSE(cost.total.co2_kg);
  EXPECT_EQ(cost.processors.kwh.why_absent(), WhyAbsent::kNoPermission);
  EXPECT_FALSE(cost.total.usd) << "no price of a T4 has a source";
  EXPECT_FALSE(cost.price);
  EXPECT_TRUE(cost.causes.empty());
  EXPECT_FALSE(cost.idle.gpu_hours);
  EXPECT_FALSE(cost.idle_ratio);
}

TEST(Cost, OfARunWithoutAStepIsNotZero) {
  Usage usage = two_gpus();
  usage.seconds = {3720, 0, 0};
  for (UsedGpu& gpu : usage.gpus) {
    gpu.seconds = usage.seconds;
    gpu.energy = {{{WhyAbsent::kNotSupported, 0}, {}, {}}};
    gpu.shares = WhyAbsent::kNotObserved;
  }
  const Cost cost = cost_of(usage, rates(), std::nullopt);
  EXPECT_EQ(cost.total.kwh.why_absent(), WhyAbsent::kNotSupported);
  EXPECT_NEAR(*cost.total.gpu_hours, 2 * 3720.0 / 3600, 1e-12);
  EXPECT_FALSE(cost.idle_ratio);
}

TEST(Cost, EnergyOfAPhaseThatNobodyMeasuredIsLeftOut) {
  Usage usage = two_gpus();
  for (UsedGpu& gpu : usage.gpus) gpu.energy[0] = {WhyAbsent::kNotObserved, 0};
  const Cost cost = cost_of(usage, rates(), std::nullopt);
  EXPECT_FALSE(cost.phases[0].kwh);
  EXPECT_NEAR(*cost.all_gpus.kwh, 2 * 723e3 * 1.2 / 3.6e6, 1e-12);
  EXPECT_NEAR(cost.covered_ratio, 3660.0 / 3720, 1e-12);
}

TEST(Cost, OfPartOfAGpuHasNoPriceUnlessSomebodySaysOne) {
  Usage usage = two_gpus();
  usage.gpus.pop_back();
  usage.gpus[0].split = true;
  EXPECT_FALSE(cost_of(usage, default_rates(), std::nullopt).total.usd);
  EXPECT_NEAR(*cost_of(usage, rates(), std::nullopt).total.usd, 2 * 3720.0 / 3600, 1e-12);
}

TEST(Cost, OfAJobOnTheCpuIsItsEnergyAlone) {
  Usage usage = two_gpus();
  usage.gpus.clear();
  const Cost cost = cost_of(usage, rates(), Change{"more_workers", {2, 1.5, 2.5}, false});
  EXPECT_FALSE(cost.total.gpu_hours);
  EXPECT_NEAR(*cost.total.kwh, 90e3 * 1.2 / 3.6e6, 1e-12);
  EXPECT_FALSE(cost.given_back);
}

TEST(Cost, AChangeThatMakesNothingFasterGivesNothingBack) {
  EXPECT_FALSE(cost_of(two_gpus(), rates(), Change{"x", {0.9, 0.8, 1.0}, true}).given_back);
}

TEST(Cost, AnHourOfTrainingHoldsTheProcessors) {
  const Amount hour = hour_of_training(two_gpus(), rates());
  EXPECT_NEAR(*hour.gpu_hours, 2, 1e-12);
  EXPECT_NEAR(*hour.usd, 4, 1e-12);
  EXPECT_NEAR(*hour.kwh, (2 * 720e3 + 90e3) * 1.2 / 3.6e6, 1e-12);
  Usage half_measured = two_gpus();
  half_measured.gpus[0].energy[1] = {100.0 * 3600, 0.5};
  EXPECT_NEAR(*hour_of_training(half_measured, rates()).kwh, *hour.kwh, 1e-12);
}

}  // namespace
}  // namespace unstarve::cost
