#include "predict/track_record.h"

#include <gtest/gtest.h>

#include <limits>

namespace unstarve::predict {
namespace {

TriedPrediction tried(double predicted, double measured, bool held) {
  return {.remedy = "more_workers",
          .predicted = {predicted, predicted * 0.95, predicted * 1.05},
          .measured = {measured, measured, measured},
          .held = held,
          .run = {}};
}

TEST(TrackRecord, ErrorsCountAlikeEitherWay) {
  const auto records =
      track_records({tried(2, 2.2, false), tried(2.2, 2, false), tried(3, 3.3, false)});
  const TrackRecord& record = records.at("more_workers");
  EXPECT_EQ(record.tried, 3);
  EXPECT_EQ(record.held, 0);
  EXPECT_NEAR(record.median_error, 0.1, 1e-9);
  EXPECT_NEAR(record.wide_error, 0.1, 1e-9);
}

TEST(TrackRecord, WhatIsNoSpeedupIsLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(track_records({tried(0, 1, true), tried(1, 0, true), tried(nan, 1, true)}).empty());
}

TEST(TrackRecord, MissesWidenLaterIntervals) {
  std::vector<TriedPrediction> past(4, tried(2, 2.4, false));
  const Speedup before = {3, 2.8, 3.2};
  EXPECT_EQ(widened(before, track_records(past).at("more_workers")).low, 2.8) << "too few to tell";
  past.push_back(tried(2, 2.0, true));
  const Speedup after = widened(before, track_records(past).at("more_workers"));
  EXPECT_NEAR(after.low, 3 / 1.2, 1e-9);
  EXPECT_NEAR(after.high, 3 * 1.2, 1e-9);
  EXPECT_EQ(after.speedup, 3);
}

TEST(TrackRecord, PredictionsThatHeldChangeNothing) {
  std::vector<TriedPrediction> past(19, tried(2, 2.01, true));
  past.push_back(tried(2, 4, false));
  const TrackRecord record = track_records(past).at("more_workers");
  EXPECT_FALSE(was_too_sure(record)) << "one of twenty may miss";
  EXPECT_EQ(widened({3, 2.8, 3.2}, record).high, 3.2);
}

TEST(TrackRecord, AnIntervalIsNeverMadeNarrower) {
  std::vector<TriedPrediction> past(6, tried(2, 2.2, false));
  const Speedup wide = widened({3, 1, 9}, track_records(past).at("more_workers"));
  EXPECT_EQ(wide.low, 1);
  EXPECT_EQ(wide.high, 9);
}

}  // namespace
}  // namespace unstarve::predict
