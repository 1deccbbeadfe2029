#include "diagnose/ranks/rank_comparison.h"

#include <gtest/gtest.h>

namespace unstarve::diagnose {
namespace {

/// A rank whose step of 100 ms is: waiting for its loader, computing, communicating, the rest.
RankRow rank(std::int64_t number, double input, double compute, double communication) {
  RankRow row;
  row.number = number;
  row.ranks = 4;
  row.process = 100 + number;
  row.device = number;
  row.step_us = 100'000.0;
  row.input_wait = input;
  row.compute = compute;
  row.communication = communication;
  row.copy = 0.0;
  row.sync = 0.0;
  row.host = 1 - input - compute - communication;
  return row;
}

TEST(RankComparison, WhoWaitsLeastIsLateAndItsLoaderIsWhy) {
  const RankComparison ranks{{rank(0, 0.0, 0.3, 0.68), rank(1, 0.6, 0.3, 0.08)}, {}};
  const auto late = find_straggler(ranks.rows);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->row, 1U);
  EXPECT_NEAR(late->late_ratio, 0.6, 1e-9);
  EXPECT_EQ(late->because, "input_wait");
  EXPECT_NEAR(late->because_ratio, 0.6, 1e-9);
}

TEST(RankComparison, LongerComputeIsAReason) {
  const auto late =
      find_straggler({rank(0, 0.0, 0.6, 0.38), rank(1, 0.0, 0.6, 0.38), rank(2, 0.0, 0.95, 0.03)});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->row, 2U);
  EXPECT_EQ(late->because, "compute");
}

TEST(RankComparison, SeveralSmallThingsAreNoOneReason) {
  RankRow late = rank(1, 0.08, 0.58, 0.02);                            // host 0.32
  const auto found = find_straggler({rank(0, 0.0, 0.5, 0.26), late});  // host 0.24
  ASSERT_TRUE(found);
  EXPECT_EQ(found->row, 1U);
  EXPECT_EQ(found->because, "");
}

TEST(RankComparison, RanksThatWaitAlikeAreNotLate) {
  EXPECT_FALSE(find_straggler({rank(0, 0.3, 0.4, 0.3), rank(1, 0.32, 0.4, 0.28)}));
}

TEST(RankComparison, JobsThatDoNotStepTogetherAreNoRanks) {
  RankRow other = rank(1, 0.6, 0.3, 0.08);
  other.step_us = 250'000.0;
  EXPECT_FALSE(find_straggler({rank(0, 0.0, 0.3, 0.68), other}));
  EXPECT_FALSE(find_straggler({rank(0, 0.0, 0.3, 0.68)}));
}

TEST(RankComparison, WithoutNumbersThoseThatCommunicateAreRanks) {
  std::vector<RankRow> rows = {rank(0, 0.0, 0.3, 0.68), rank(1, 0.6, 0.3, 0.08)};
  for (RankRow& row : rows) row.number = WhyAbsent::kNotObserved;
  EXPECT_TRUE(find_straggler(rows));
  rows[1].process = rows[0].process;  // two GPUs of one process
  EXPECT_FALSE(find_straggler(rows));
}

TEST(RankComparison, WithoutDevicesTheLoaderTells) {
  std::vector<RankRow> rows = {rank(0, 0.02, 0, 0), rank(1, 0.5, 0, 0)};
  for (RankRow& row : rows) {
    row.communication = WhyAbsent::kNotObserved;
    row.compute = WhyAbsent::kNotObserved;
    row.host = WhyAbsent::kNotObserved;
  }
  const auto late = find_straggler(rows);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->row, 1U);
  EXPECT_FALSE(late->seen_waiting);
  EXPECT_NEAR(late->late_ratio, 0.48, 1e-9);
}

TEST(RankComparison, TheOthersOwnWorkIsTheMostThatHelps) {
  RankComparison ranks{{rank(0, 0.0, 0.3, 0.6), rank(1, 0.5, 0.3, 0.1)}, {}};
  ranks.straggler = find_straggler(ranks.rows);
  ASSERT_TRUE(ranks.straggler);
  EXPECT_NEAR(most_that_helps(ranks), 1 / 0.4, 1e-9);
}

}  // namespace
}  // namespace unstarve::diagnose
