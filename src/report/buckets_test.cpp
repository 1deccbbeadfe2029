#include "report/buckets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/comparison.h"
#include "report/testing/sample_report.h"

namespace unstarve::report {
namespace {

TEST(Buckets, KeepTheSingleIdleSampleOfALongRun) {
  Series series;
  for (int i = 0; i < 360'000; ++i) {
    series.t_s.push_back(i * 0.1);
    series.value.push_back(i == 200'000 ? 0.0 : 1.0);
  }
  const std::vector<Bucket> buckets = bucket_series(series, common_range({series}, 300));
  ASSERT_EQ(buckets.size(), 300U);
  int idle = 0;
  for (const Bucket& bucket : buckets) {
    EXPECT_FALSE(bucket.empty);
    EXPECT_EQ(bucket.max, 1.0);
    idle += bucket.min == 0.0 ? 1 : 0;
  }
  EXPECT_EQ(idle, 1);
}

TEST(Buckets, IgnoreWhatIsNotFiniteAndWhatHasNoPartner) {
  const Series series = {"x", {0, 1, 2, 3}, {0.5, std::nan(""), 1.5}};
  const std::vector<Bucket> buckets = bucket_series(series, {0, 3, 3});
  EXPECT_EQ(buckets[0].mean, 0.5);
  EXPECT_TRUE(buckets[1].empty);
  EXPECT_EQ(buckets[2].max, 1.5);
}

TEST(Buckets, NothingAndOneInstantAreRangesToo) {
  EXPECT_TRUE(bucket_series({}, common_range({}, 5)).front().empty);
  const Series instant = {"x", {4}, {0.5}};
  EXPECT_EQ(bucket_series(instant, common_range({instant}, 5)).front().mean, 0.5);
}

TEST(Comparison, SharesOneBeforeRow) {
  const std::vector<ComparisonRow> rows = comparison_rows(sample::report().verification);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].what, "before");
  EXPECT_FALSE(rows[0].held);
  EXPECT_EQ(rows[2].what, "unstarve_loader");
  EXPECT_EQ(rows[2].relative_to, "");
}

TEST(Comparison, ARemedyOnTopOfAnotherRefersToIt) {
  std::vector<Verification> verification = sample::report().verification;
  verification[1].before = verification[0].after;
  const std::vector<ComparisonRow> rows = comparison_rows(verification);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].relative_to, "more_workers");
}

TEST(Comparison, WhatWasNotPredictedCouldNotHold) {
  std::vector<Verification> verification = sample::report().verification;
  verification[0].predicted = WhyAbsent::kNotObserved;
  const std::vector<ComparisonRow> rows = comparison_rows(verification);
  EXPECT_FALSE(rows[1].held);
  EXPECT_EQ(rows[2].held, true);
}

TEST(Comparison, ABaselineMeasuredAgainHasItsOwnRow) {
  std::vector<Verification> verification = sample::report().verification;
  verification[1].before.step_us += 1;
  EXPECT_EQ(comparison_rows(verification).size(), 4U);
}

}  // namespace
}  // namespace unstarve::report
