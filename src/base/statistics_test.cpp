#include "base/statistics.h"

#include <gtest/gtest.h>

#include <array>

namespace unstarve {
namespace {

TEST(Statistics, OfOneValueAllAreThatOne) {
  const std::array values = {7.0};
  EXPECT_DOUBLE_EQ(mean(values), 7);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.95), 7);
}

TEST(Statistics, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({9, 1, 4, 2}), 3);
  EXPECT_DOUBLE_EQ(median({9, 1, 4}), 4);
}

TEST(Statistics, AQuantileLiesBetweenItsNeighboursInProportion) {
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 0), 10);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 0.25), 15);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 1), 30);
}

TEST(Statistics, AMeanIsOfAllValues) {
  const std::array values = {1.0, 2.0, 6.0};
  EXPECT_DOUBLE_EQ(mean(values), 3);
}

TEST(Statistics, StudentsDistributionIsWideForFewAndNormalForMany) {
  EXPECT_NEAR(student_95(1), 6.3138, 1e-3);
  EXPECT_NEAR(student_95(5), 2.0150, 2e-3);
  EXPECT_NEAR(student_95(10), 1.8125, 1e-3);
  EXPECT_NEAR(student_95(1000), 1.6464, 1e-3);
}

}  // namespace
}  // namespace unstarve
