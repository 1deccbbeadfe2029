#include "diagnose/partition/over_time.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/testing/random_timeline.h"

namespace unstarve::diagnose {
namespace {

TEST(PartitionOverTime, PiecesOfTheSpanAddUpToIt) {
  int judged = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    const trace::Timeline timeline = RandomTimeline(seed).make();
    const job::JobView view(timeline);
    const PartitionedJob job(view);
    const DevicePartition* const device = job.worst();
    if (device == nullptr) continue;
    ++judged;
    const PartitionOverTime pieces = partition_over_time(job);
    std::vector<double> sums(pieces.recorded_ns.size(), 0);
    for (const PartitionOverTime::Part& part : pieces.parts) {
      double ns = 0;
      for (std::size_t i = 0; i < part.shares.size(); ++i) {
        ASSERT_EQ(std::isfinite(part.shares[i]), pieces.recorded_ns[i] > 0) << seed;
        if (!std::isfinite(part.shares[i])) continue;
        sums[i] += part.shares[i];
        ns += part.shares[i] * pieces.recorded_ns[i];
      }
      for (const Cause cause : kAllCauses) {
        if (to_string(cause) != part.cause) continue;
        EXPECT_NEAR(ns, static_cast<double>(device->of(cause)), 1e-6) << part.cause << " " << seed;
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double expected = pieces.recorded_ns[i] > 0 ? 1 : 0;
      EXPECT_NEAR(sums[i], expected, 1e-9) << seed;
    }
  }
  EXPECT_GT(judged, 100);
}

}  // namespace
}  // namespace unstarve::diagnose
