#include "serve/pages/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace unstarve::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One sample each 0.1 s, whose value is its number.
NamedCurve ramp(const std::string& run, int samples, double training_from_s = 0) {
  NamedCurve curve;
  curve.run = run;
  curve.metric.name = "job.resident_bytes";
  curve.metric.unit = "bytes";
  curve.metric.subject = "job";
  for (int i = 0; i < samples; ++i) {
    curve.series.t_s.push_back(0.1 * i);
    curve.series.value.push_back(i);
  }
  curve.series.training_from_s = training_from_s;
  return curve;
}

TEST(Columns, KeepTheLeastAndTheLargestSample) {
  NamedCurve curve = ramp("a", 10'000);
  curve.series.value[5'000] = -7;
  const Columns columns = columns_of({curve}, {Since::kStart, 0, 0, 10});
  ASSERT_EQ(columns.columns.size(), 1U);
  const auto& buckets = columns.columns.front().buckets;
  ASSERT_EQ(buckets.size(), 10U);
  EXPECT_EQ(buckets[0].min, 0);
  EXPECT_EQ(buckets[9].max, 9'999);
  double least = 0;
  for (const report::Bucket& bucket : buckets) least = std::min(least, bucket.min);
  EXPECT_EQ(least, -7);
}

TEST(Columns, AreNeverDenserThanTwoSamplesAStretch) {
  const Columns columns = columns_of({ramp("a", 100)}, {Since::kStart, 0, 0, 800});
  EXPECT_EQ(columns.columns.front().buckets.size(), 50U);
  for (const report::Bucket& bucket : columns.columns.front().buckets) EXPECT_FALSE(bucket.empty);
}

TEST(Columns, LookAtAPart) {
  const Columns columns = columns_of({ramp("a", 1'000)}, {Since::kStart, 10, 20, 5});
  EXPECT_EQ(columns.range.start_s, 10);
  EXPECT_NEAR(columns.columns.front().buckets.front().min, 100, 1);
  EXPECT_NEAR(columns.columns.front().buckets.back().max, 200, 1);
  EXPECT_NEAR(columns.whole.end_s, 99.9, 1e-9);
}

TEST(Columns, LieOverEachOtherFromTheTrainingOn) {
  const ColumnsWish wish = {Since::kTraining, 0, 0, 10};
  const Columns both = columns_of({ramp("a", 100, 2), ramp("b", 100, 5)}, wish);
  EXPECT_EQ(both.since, Since::kTraining);
  EXPECT_DOUBLE_EQ(both.range.start_s, -5);
  NamedCurve unknown = ramp("b", 100);
  unknown.series.training_from_s = WhyAbsent::kNotObserved;
  EXPECT_EQ(columns_of({ramp("a", 100, 2), unknown}, wish).since, Since::kStart);
}

TEST(Columns, WhatWasNotReadIsNeverZero) {
  NamedCurve curve = ramp("a", 20);
  for (std::size_t i = 8; i < 12; ++i) {
    curve.series.value[i] = std::numeric_limits<double>::quiet_NaN();
  }
  const Columns columns = columns_of({curve}, {Since::kStart, 0, 0, 8});
  EXPECT_THAT(columns_json(columns), HasSubstr("null"));
  EXPECT_THAT(columns_csv(columns), HasSubstr(",,,"));
}

TEST(Columns, HostileNamesStayText) {
  const NamedCurve curve = ramp("=1+1\"</text><script>\x1b[31m", 20);
  const Columns columns = columns_of({curve}, {});
  EXPECT_THAT(columns_csv(columns), HasSubstr("\"'=1+1\"\"</text>"));
  EXPECT_THAT(columns_svg(columns), Not(HasSubstr("<script")));
  EXPECT_THAT(columns_json(columns), Not(HasSubstr("\x1b")));
}

TEST(Columns, UnitsFitTheirValues) {
  EXPECT_EQ(shown_unit("bytes", 3e9).name, "GB");
  EXPECT_EQ(shown_unit("bytes/s", 3e6).name, "MB/s");
  EXPECT_EQ(shown_unit("ratio", 0.5).factor, 100);
  EXPECT_EQ(shown_unit("cores", 4).name, "cores");
}

}  // namespace
}  // namespace unstarve::serve
