#include "compare/work_cost.h"

#include <algorithm>
#include <array>

#include "base/units.h"

namespace unstarve::compare {

namespace {

using Took = cost::Amount;

constexpr double kThousand = 1000;
constexpr std::array kParts = {&Took::gpu_hours, &Took::usd, &Took::kwh, &Took::co2_kg};

/// Seconds that all ranks of a run take for one sample or step; none where it does not say them. A
/// step is one of every rank, and a sample one of a single rank.
double seconds_of_one(const MeasuredRun& run, bool of_samples) {
  const StepBlock sum = sum_of(run.blocks);
  if (!of_samples) return sum.of(Amount::kWall) / sum.of(Amount::kSteps);
  const double samples = sum.of(Amount::kSamples);
  if (samples <= 0) return 0;
  const auto ranks = static_cast<double>(std::max<std::size_t>(1, run.usage.ranks));
  return sum.of(Amount::kSampledWall) / samples / ranks;
}

bool says_samples(const Side& side) {
  return std::all_of(side.runs.begin(), side.runs.end(),
                     [](const MeasuredRun& run) { return seconds_of_one(run, true) > 0; });
}

/// Mean over the runs of a side.
Took of_a_thousand(const Side& side, bool of_samples, const cost::Rates& rates) {
  Took sum = {0.0, 0.0, 0.0, 0.0};
  for (const MeasuredRun& run : side.runs) {
    const double hours = kThousand * seconds_of_one(run, of_samples) / kSecondsPerHour;
    sum = sum + cost::hour_of_training(run.usage, rates) * hours;
  }
  return sum * (1 / static_cast<double>(side.runs.size()));
}

/// Of what A takes in a month, the part that B takes less for the same work.
Reading<double> given_back(const Reading<double>& month_of_a, const Reading<double>& a,
                           const Reading<double>& b) {
  if (!month_of_a) return month_of_a;
  if (!a) return a;
  if (!b) return b;
  if (*a <= 0) return WhyAbsent::kNotObserved;
  return *month_of_a * (1 - *b / *a);
}

}  // namespace

WorkCost work_cost(const Side& a, const Side& b, const cost::Rates& rates) {
  WorkCost found;
  found.of_samples = says_samples(a) && says_samples(b);
  found.a = of_a_thousand(a, found.of_samples, rates);
  found.b = of_a_thousand(b, found.of_samples, rates);
  found.price_a = cost::price_of(a.first().usage, rates);
  found.price_b = cost::price_of(b.first().usage, rates);
  found.carbon_g_per_kwh = rates.carbon_g_per_kwh;
  found.pue = rates.pue;
  const Took month = cost::hour_of_training(a.first().usage, rates) * cost::kHoursOfMonth;
  for (Reading<double> Took::*part : kParts) {
    found.month.*part = given_back(month.*part, found.a.*part, found.b.*part);
  }
  found.emulated = a.first().emulated || b.first().emulated;
  return found;
}

}  // namespace unstarve::compare
