#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "feed/pipeline/order/generated_order.h"
#include "feed/pipeline/order/index_permutation.h"
#include "feed/pipeline/order/submitted_order.h"

namespace unstarve::feed {
namespace {

using Indices = std::vector<std::uint32_t>;

Indices whole_order(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch) {
  const IndexPermutation permutation(count, seed, epoch);
  Indices order(count);
  for (std::uint32_t position = 0; position < count; ++position) {
    order[position] = permutation(position);
  }
  return order;
}

TEST(IndexPermutation, EveryIndexComesOnce) {
  for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 22U, 100U, 1000U, 65536U, 65537U}) {
    Indices order = whole_order(count, 7, 3);
    std::sort(order.begin(), order.end());
    Indices expected(count);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(order, expected) << count;
  }
}

TEST(IndexPermutation, TheLargestDataSetStaysInRange) {
  constexpr std::uint32_t kCount = 0xFFFFFFFEU;
  const IndexPermutation permutation(kCount, 1, 0);
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t index = permutation(kCount - 1 - i * 4'000'000);
    EXPECT_LT(index, kCount);
    EXPECT_TRUE(seen.insert(index).second);
  }
}

TEST(IndexPermutation, SeedAndEpochChangeTheOrder) {
  const Indices order = whole_order(1000, 1, 0);
  EXPECT_EQ(order, whole_order(1000, 1, 0));
  EXPECT_NE(order, whole_order(1000, 1, 1));
  EXPECT_NE(order, whole_order(1000, 2, 0));
  EXPECT_NE(order, whole_order(1000, 1ULL + (1ULL << 32), 0));
}

/// How far counts of equally likely outcomes lie from even, as chi-square in standard deviations.
double unevenness(const std::vector<double>& counts) {
  const double mean =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const double count : counts) sum += (count - mean) * (count - mean) / mean;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (sum - freedom) / std::sqrt(2 * freedom);
}

TEST(IndexPermutation, SmallSetsComeInEveryOrderEquallyOften) {
  for (const std::uint32_t count : {2U, 3U, 4U, 5U}) {
    std::map<Indices, double> seen;
    std::uint32_t orders = 1;
    for (std::uint32_t i = 2; i <= count; ++i) orders *= i;
    for (std::uint32_t epoch = 0; epoch < 200 * orders; ++epoch) {
      ++seen[whole_order(count, 5, epoch)];
    }
    ASSERT_EQ(seen.size(), orders);
    std::vector<double> counts;
    for (const auto& [order, times] : seen) counts.push_back(times);
    EXPECT_LT(unevenness(counts), 5.0) << count;
  }
}

TEST(IndexPermutation, PlacesAndNeighboursAreIndependent) {
  constexpr std::uint32_t kCount = 1000;
  constexpr std::uint32_t kCells = 10;
  std::vector<double> places(std::size_t{kCells} * kCells);
  std::vector<double> neighbours(std::size_t{kCells} * kCells);
  for (std::uint32_t epoch = 0; epoch < 100; ++epoch) {
    const Indices order = whole_order(kCount, 11, epoch);
    for (std::uint32_t i = 0; i + 1 < kCount; ++i) {
      const std::uint32_t cell = order[i] * kCells / kCount;
      ++places[i * kCells / kCount * kCells + cell];
      ++neighbours[cell * kCells + order[i + 1] * kCells / kCount];
    }
  }
  EXPECT_LT(unevenness(places), 5.0);
  EXPECT_LT(unevenness(neighbours), 5.0);
}

GeneratedOrder::Settings settings(std::uint32_t samples) {
  GeneratedOrder::Settings settings;
  settings.samples = samples;
  settings.seed = 3;
  settings.batch_size = 4;
  return settings;
}

/// What all ranks get, from `start` to the end of the epoch: sorted by global position.
struct Taken {
  Indices indices;
  std::vector<std::uint64_t> batches_of_rank;
};

Taken take_epoch(GeneratedOrder::Settings settings) {
  Taken taken;
  std::map<std::uint64_t, std::uint32_t> by_position;
  for (settings.rank = 0; settings.rank < settings.world_size; ++settings.rank) {
    GeneratedOrder order(settings);
    PlannedBatch batch;
    std::uint64_t position = settings.start.consumed + settings.rank;
    std::uint64_t batches = 0;
    while (order.ready()) {
      order.take(batch);
      ++batches;
      for (const PlannedSample& sample : batch.samples) {
        by_position[position] = sample.index;
        position += settings.world_size;
      }
    }
    EXPECT_TRUE(batch.last || batches == 0);
    taken.batches_of_rank.push_back(batches);
  }
  for (const auto& [position, index] : by_position) taken.indices.push_back(index);
  return taken;
}

TEST(GeneratedOrder, RanksShareOneOrderAsTorchDoes) {
  const Indices whole = take_epoch(settings(22)).indices;
  EXPECT_EQ(std::set<std::uint32_t>(whole.begin(), whole.end()).size(), 22U);
  for (const std::uint64_t world : {1U, 2U, 3U, 5U, 8U, 30U}) {
    GeneratedOrder::Settings ranks = settings(22);
    ranks.world_size = world;
    const Taken padded = take_epoch(ranks);
    Indices expected = whole;
    while (expected.size() % world != 0) expected.push_back(whole[expected.size() - 22]);
    EXPECT_EQ(padded.indices, expected) << world;
    EXPECT_THAT(padded.batches_of_rank, testing::Each(padded.batches_of_rank[0]));

    ranks.remainder = RankRemainder::kDrop;
    const Taken dropped = take_epoch(ranks);
    expected.assign(whole.begin(), whole.begin() + std::ptrdiff_t(22 / world * world));
    EXPECT_EQ(dropped.indices, expected) << world;
    EXPECT_THAT(dropped.batches_of_rank, testing::Each(dropped.batches_of_rank[0]));
  }
}

TEST(GeneratedOrder, AnyWorldGoesOnWithWhatIsLeft) {
  const Indices whole = take_epoch(settings(101)).indices;
  for (const std::uint64_t before : {1U, 2U, 3U, 8U}) {
    for (const std::uint64_t after : {1U, 2U, 3U, 8U}) {
      GeneratedOrder::Settings first = settings(101);
      first.world_size = before;
      GeneratedOrder order(first);
      PlannedBatch batch;
      while (order.ready()) {
        order.take(batch);
        if (batch.last) break;
        GeneratedOrder::Settings second = settings(101);
        second.world_size = after;
        second.batch_size = 3;
        second.start = batch.after;
        const Taken rest = take_epoch(second);
        const auto consumed = std::ptrdiff_t(batch.after.consumed);
        Indices expected(whole.begin() + consumed, whole.end());
        ASSERT_GE(rest.indices.size(), expected.size());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rest.indices.begin()))
            << before << " to " << after << " ranks after " << consumed;
        EXPECT_THAT(rest.batches_of_rank, testing::Each(rest.batches_of_rank[0]));
      }
    }
  }
}

TEST(GeneratedOrder, TheEndOfAnEpochIsTheBeginOfTheNext) {
  GeneratedOrder::Settings two = settings(10);
  two.follow_on = true;
  GeneratedOrder order(two);
  PlannedBatch batch;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    Indices indices;
    for (std::uint64_t number = 0; number < 3; ++number) {
      ASSERT_TRUE(order.ready());
      order.take(batch);
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_EQ(batch.number, number);
      EXPECT_EQ(batch.last, number == 2);
      for (const PlannedSample& sample : batch.samples) indices.push_back(sample.index);
    }
    EXPECT_EQ(batch.after.epoch, epoch + 1);
    EXPECT_EQ(batch.after.consumed, 0U);
    EXPECT_EQ(indices, whole_order(10, 3, epoch));
  }
}

TEST(GeneratedOrder, FewerSamplesThanABatchMayBeNone) {
  GeneratedOrder::Settings few = settings(3);
  few.drop_last = true;
  few.follow_on = true;
  EXPECT_TRUE(GeneratedOrder(few).ended());
  EXPECT_EQ(GeneratedOrder::batches_left(few, 0), 0U);
  few.samples = 0;
  few.drop_last = false;
  EXPECT_TRUE(GeneratedOrder(few).ended());
  few = settings(3);
  few.start.consumed = 1'000'000;  // a state may say anything
  EXPECT_TRUE(GeneratedOrder(few).ended());
}

TEST(SubmittedOrder, GivesBackWhatWasSubmitted) {
  SubmittedOrder order(10, {2, 8, 4});
  EXPECT_FALSE(order.ready());
  EXPECT_FALSE(order.ended());
  ASSERT_TRUE(order.skip(std::vector<std::uint64_t>{3}));
  ASSERT_TRUE(order.submit(std::vector<std::uint64_t>{3, 1, 3}));
  ASSERT_TRUE(order.submit(std::vector<std::uint64_t>{9}));
  EXPECT_EQ(order.waiting(), 2U);
  PlannedBatch batch;
  order.take(batch);
  ASSERT_EQ(batch.samples.size(), 3U);
  EXPECT_EQ(batch.samples[0].index, 3U);
  EXPECT_EQ(batch.samples[0].repeat, 1U);
  EXPECT_EQ(batch.samples[1].repeat, 0U);
  EXPECT_EQ(batch.samples[2].repeat, 2U);
  EXPECT_EQ(batch.number, 4U);
  EXPECT_EQ(batch.after.consumed, 11U);
  EXPECT_EQ(batch.after.batches, 5U);
  ASSERT_TRUE(order.finish());
  EXPECT_FALSE(order.ended());
  order.take(batch);
  EXPECT_TRUE(order.ended());
}

TEST(GeneratedOrder, SaysWhatComesLater) {
  GeneratedOrder::Settings two_ranks = settings(10);
  two_ranks.world_size = 2;
  two_ranks.rank = 1;
  two_ranks.batch_size = 2;
  GeneratedOrder order(two_ranks);
  const Indices whole = whole_order(10, two_ranks.seed, 0);
  PlannedBatch batch;
  order.take(batch);
  EXPECT_EQ(order.later(0), whole[5]);
  EXPECT_EQ(order.later(2), whole[9]);
  EXPECT_EQ(order.later(3), std::nullopt) << "the epoch is over";
  while (order.ready()) order.take(batch);
  EXPECT_EQ(order.later(0), std::nullopt);
}

TEST(SubmittedOrder, SaysWhatComesLater) {
  SubmittedOrder order(10, {});
  EXPECT_EQ(order.later(0), std::nullopt);
  ASSERT_TRUE(order.submit(std::vector<std::uint64_t>{3, 1}));
  ASSERT_TRUE(order.submit(std::vector<std::uint64_t>{9}));
  EXPECT_EQ(order.later(1), 1U);
  EXPECT_EQ(order.later(2), 9U);
  EXPECT_EQ(order.later(3), std::nullopt);
}

TEST(SubmittedOrder, SkipsAnyNumberOfSamplesAtOnce) {
  constexpr std::uint64_t kOrdered = 1'200'000;
  SubmittedOrder order(kOrdered, {});
  std::vector<std::uint64_t> behind(kOrdered);
  std::iota(behind.begin(), behind.end(), 0U);
  behind.back() = 7;
  ASSERT_TRUE(order.skip(behind));
  ASSERT_TRUE(order.skip({}));
  ASSERT_TRUE(order.submit(std::vector<std::uint64_t>{kOrdered - 1, kOrdered - 2, 7}));
  PlannedBatch batch;
  order.take(batch);
  EXPECT_EQ(batch.samples[0].repeat, 0U);
  EXPECT_EQ(batch.samples[1].repeat, 1U);
  EXPECT_EQ(batch.samples[2].repeat, 2U);
  EXPECT_EQ(order.skip(std::vector<std::uint64_t>{kOrdered}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(SubmittedOrder, RefusesWhatTheDataSetLacks) {
  SubmittedOrder order(10, {});
  EXPECT_EQ(order.submit(std::vector<std::uint64_t>{10}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(order.submit(std::vector<std::uint64_t>{1, 1ULL << 40}));
  EXPECT_FALSE(order.submit(std::vector<std::uint64_t>{}));
  ASSERT_TRUE(order.finish());
  EXPECT_FALSE(order.submit(std::vector<std::uint64_t>{1}));
}

}  // namespace
}  // namespace unstarve::feed
