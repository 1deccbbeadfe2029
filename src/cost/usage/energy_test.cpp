#include "cost/usage/energy.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/units.h"

namespace unstarve::cost {
namespace {

using trace::Interval;
using trace::SeriesPoint;

Interval seconds(double from, double to) {
  return {static_cast<std::int64_t>(from * kNsPerS), static_cast<std::int64_t>(to * kNsPerS)};
}

/// One a second from 0 on.
std::vector<SeriesPoint> each_second(const std::vector<Reading<double>>& values) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back({static_cast<std::int64_t>(i) * kSecondNs, values[i]});
  }
  return points;
}

TEST(EnergyByCounter, IsWhatItGrewBy) {
  const auto points = each_second({1000.0, 1100.0, 1300.0, 1350.0});
  const Energy all = energy_by_counter(points, seconds(0, 3));
  EXPECT_DOUBLE_EQ(*all.joules, 350);
  EXPECT_DOUBLE_EQ(all.covered_ratio, 1);
  // Half of the first second's 100 J, half of the second's 200 J.
  EXPECT_DOUBLE_EQ(*energy_by_counter(points, seconds(0.5, 1.5)).joules, 150);
}

TEST(EnergyByCounter, CountsOnWhereNobodyReadsIt) {
  const Energy energy =
      energy_by_counter(each_second({10.0, WhyAbsent::kNotSupported, 30.0}), seconds(0, 2));
  EXPECT_DOUBLE_EQ(*energy.joules, 20);
  EXPECT_DOUBLE_EQ(energy.covered_ratio, 1);
}

TEST(EnergyByCounter, ThatBeganAnewLeavesThatTimeOut) {
  const Energy energy = energy_by_counter(each_second({900.0, 1000.0, 5.0, 105.0}), seconds(0, 3));
  EXPECT_DOUBLE_EQ(*energy.joules, 200);
  EXPECT_DOUBLE_EQ(energy.covered_ratio, 2.0 / 3);
}

TEST(EnergyByCounter, ThatNobodyReadIsAbsentForItsReason) {
  EXPECT_EQ(
      energy_by_counter(each_second({WhyAbsent::kNoPermission}), seconds(0, 3)).joules.why_absent(),
      WhyAbsent::kNoPermission);
  EXPECT_EQ(energy_by_counter({}, seconds(0, 3)).joules.why_absent(), WhyAbsent::kNotObserved);
  EXPECT_EQ(energy_by_counter(each_second({1.0, 2.0}), seconds(5, 6)).joules.why_absent(),
            WhyAbsent::kNotObserved);
}

TEST(EnergyByPower, IsTheAreaBelowIt) {
  const auto points = each_second({100.0, 200.0, 200.0, WhyAbsent::kNotSupported, 300.0});
  const Energy all = energy_by_power(points, seconds(0, 4));
  EXPECT_DOUBLE_EQ(*all.joules, 150 + 200);
  EXPECT_DOUBLE_EQ(all.covered_ratio, 0.5) << "nothing is known around a reading that lacks";
  // From 100 W at the middle of a line that goes from 100 to 200 W: 150 to 200 W for 0.5 s.
  EXPECT_DOUBLE_EQ(*energy_by_power(points, seconds(0.5, 1)).joules, 87.5);
}

TEST(EnergyByPower, DoesNotBridgeHoles) {
  const std::vector<SeriesPoint> points = {{0, 100.0}, {6 * kSecondNs, 100.0}};
  EXPECT_FALSE(energy_by_power(points, seconds(0, 6)).joules);
}

}  // namespace
}  // namespace unstarve::cost
