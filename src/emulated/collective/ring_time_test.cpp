#include "emulated/collective/ring_time.h"

#include <gtest/gtest.h>

namespace unstarve::emulated {
namespace {

constexpr Link kLink{.bytes_per_s = 100e9, .latency_ns = 2'000};
constexpr std::int64_t kGigabyte = 1'000'000'000;

TEST(RingTime, AnAllReduceGoesTwiceRoundTheRing) {
  // 2 * 3/4 GB at 100 GB/s is 15 ms; 6 steps.
  EXPECT_EQ(ring_time_ns(Collective::kAllReduce, 4, kGigabyte, kLink), 15'000'000 + 6 * 2'000);
}

TEST(RingTime, ReduceScatterAndAllGatherAreTheHalvesOfAnAllReduce) {
  for (const int ranks : {2, 3, 8}) {
    EXPECT_EQ(ring_time_ns(Collective::kReduceScatter, ranks, 840'000'000, kLink) +
                  ring_time_ns(Collective::kAllGather, ranks, 840'000'000, kLink),
              ring_time_ns(Collective::kAllReduce, ranks, 840'000'000, kLink));
  }
}

TEST(RingTime, ABroadcastSendsEachByteOnceOverEachLink) {
  EXPECT_EQ(ring_time_ns(Collective::kBroadcast, 8, kGigabyte, kLink), 10'000'000 + 7 * 2'000);
  EXPECT_EQ(ring_time_ns(Collective::kReduce, 8, kGigabyte, kLink), 10'000'000 + 7 * 2'000);
}

TEST(RingTime, ASmallCollectiveTakesItsSteps) {
  EXPECT_EQ(ring_time_ns(Collective::kAllReduce, 2, 4, kLink), 1 + 2 * 2'000);
  EXPECT_EQ(send_time_ns(4, kLink), 1 + 2'000);
}

TEST(RingTime, OneRankHasNobodyToSendTo) {
  EXPECT_EQ(ring_time_ns(Collective::kAllReduce, 1, kGigabyte, kLink), 0);
}

TEST(RingTime, AnUnknownRateCostsTheStepsAlone) {
  EXPECT_EQ(ring_time_ns(Collective::kAllGather, 3, kGigabyte, Link{.latency_ns = 5}), 10);
}

}  // namespace
}  // namespace unstarve::emulated
