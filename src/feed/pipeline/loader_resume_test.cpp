#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"

namespace unstarve::feed {
namespace {

using namespace std::chrono_literals;
constexpr int kResumedImages = test::JpegFolder::kImages;

/// The hash of each image that comes out, in order.
using Images = std::vector<std::uint64_t>;

std::uint64_t hash_of_image(const HostBatch& batch, int row) {
  std::uint64_t hash = static_cast<std::uint64_t>(batch.labels()[row]);
  for (std::size_t i = 0; i < batch.shape().image_bytes(); ++i) {
    hash = (hash ^ batch.image(row)[i]) * 0x100000001B3ULL;
  }
  return hash;
}

/// Takes batches until the epoch is over or `most` are taken.
Images take(Loader& loader, int most = 1000) {
  Images images;
  for (int taken = 0; taken < most; ++taken) {
    const Result<NextBatch> next = loader.next(60s);
    EXPECT_TRUE(next) << next.error().message;
    if (!next || next->state != NextState::kBatch) break;
    for (int row = 0; row < next->batch->count; ++row) {
      images.push_back(hash_of_image(*next->batch, row));
    }
  }
  return images;
}

class LoaderResume : public testing::Test {
 protected:
  std::unique_ptr<Loader> open(const LoaderOptions& options) {
    auto loader = Loader::open(options);
    EXPECT_TRUE(loader) << loader.error().message;
    return std::move(*loader);
  }
  /// Through JSON, as a checkpoint does.
  static LoaderState saved(const Loader& loader) {
    return *parse_loader_state(to_json(loader.state()));
  }

  test::JpegFolder folder_;
};

TEST_F(LoaderResume, GoesOnAnywhereWithAnyThreadsAndBatchSize) {
  const auto whole = open(folder_.options());
  std::map<std::uint32_t, Images> epochs;
  for (const std::uint32_t epoch : {0U, 1U}) {
    ASSERT_TRUE(whole->begin_epoch(epoch));
    epochs[epoch] = take(*whole);
  }
  for (int batches = 0; batches <= 6; ++batches) {
    for (const bool ahead : {false, true}) {
      LoaderOptions options = folder_.options();
      options.prefetch_next_epoch = ahead;
      const auto first = open(options);
      ASSERT_TRUE(first->begin_epoch(0));
      Images images = take(*first, batches);
      const LoaderState state = saved(*first);
      EXPECT_EQ(state.position.epoch, batches == 6 ? 1U : 0U);

      options.threads = 1 + batches;
      options.batch_size = 1 + batches;
      const auto second = open(options);
      ASSERT_TRUE(second->restore(state));
      EXPECT_EQ(to_json(second->state()), to_json(state)) << "saved directly after it was loaded";
      ASSERT_TRUE(second->begin_epoch(state.position.epoch));
      EXPECT_EQ(to_json(second->state()), to_json(state));
      const Images rest = take(*second);
      Images expected = epochs[state.position.epoch];
      if (batches < 6) {
        images.insert(images.end(), rest.begin(), rest.end());
        EXPECT_EQ(images, expected) << batches;
      } else {
        EXPECT_EQ(rest, expected);
      }
      EXPECT_EQ(second->state().position.consumed, 0U);
      ASSERT_TRUE(second->begin_epoch(1));
      EXPECT_EQ(take(*second), epochs[1]) << "the next epoch is whole";
    }
  }
}

TEST_F(LoaderResume, AnyNumberOfRanksGivesTheSameSamples) {
  const auto whole = open(folder_.options());
  ASSERT_TRUE(whole->begin_epoch(4));
  const Images expected = take(*whole);
  for (const int world : {2, 3, 8}) {
    std::map<std::size_t, std::uint64_t> by_position;
    std::vector<std::uint64_t> counts;
    for (int rank = 0; rank < world; ++rank) {
      LoaderOptions options = folder_.options();
      options.rank = rank;
      options.world_size = world;
      const auto loader = open(options);
      ASSERT_TRUE(loader->begin_epoch(4));
      const Images images = take(*loader);
      counts.push_back(loader->stats().batches);
      EXPECT_EQ(counts.back(), loader->batch_count());
      for (std::size_t i = 0; i < images.size(); ++i) {
        by_position[i * static_cast<std::size_t>(world) + static_cast<std::size_t>(rank)] =
            images[i];
      }
    }
    EXPECT_THAT(counts, testing::Each(counts[0]));
    Images joined;
    for (const auto& [position, image] : by_position) joined.push_back(image);
    ASSERT_GE(joined.size(), expected.size());
    for (std::size_t i = 0; i < joined.size(); ++i) {
      EXPECT_EQ(joined[i], expected[i % expected.size()]) << world << " ranks, position " << i;
    }
  }
}

/// Leaves the epoch after `batches` batches on each of `options.world_size` ranks, and adds what
/// came out by its place in the epoch's order.
LoaderState run_ranks(LoaderOptions options, const LoaderState& from, int batches,
                      std::map<std::uint64_t, std::uint64_t>& by_position) {
  LoaderState state = from;
  for (options.rank = 0; options.rank < options.world_size; ++options.rank) {
    const auto loader = *Loader::open(options);
    EXPECT_TRUE(loader->restore(from));
    EXPECT_TRUE(loader->begin_epoch(from.position.epoch));
    const auto world = static_cast<std::uint64_t>(options.world_size);
    std::uint64_t position = from.position.consumed + static_cast<std::uint64_t>(options.rank);
    for (const std::uint64_t image : take(*loader, batches)) {
      by_position[position % kResumedImages] = image;
      position += world;
    }
    state = loader->state();
    EXPECT_EQ(state.position.consumed, loader->state().position.consumed);
  }
  return state;
}

TEST_F(LoaderResume, FiftyRandomStopsWithAnyRanksGiveTheSameEpoch) {
  LoaderOptions options = folder_.options();
  const auto whole = open(options);
  ASSERT_TRUE(whole->begin_epoch(3));
  const Images expected = take(*whole);
  std::mt19937 random(5);
  const auto draw = [&](int most) { return 1 + static_cast<int>(random() % unsigned(most)); };
  constexpr int kWorlds[] = {1, 2, 3, 8};
  for (int stop = 0; stop < 50;) {
    std::map<std::uint64_t, std::uint64_t> by_position;
    LoaderState state = whole->state();
    state.position = {3, 0, 0};
    while (state.position.epoch == 3) {
      options.threads = draw(4);
      options.batch_size = draw(4);
      options.world_size = kWorlds[draw(4) - 1];
      state = run_ranks(options, *parse_loader_state(to_json(state)), draw(3), by_position);
      ++stop;
    }
    Images images;
    for (const auto& [position, image] : by_position) images.push_back(image);
    EXPECT_EQ(images, expected);
  }
}

TEST_F(LoaderResume, TheNextEpochMayLieReady) {
  LoaderOptions options = folder_.options();
  const auto plain = open(options);
  options.prefetch_next_epoch = true;
  const auto ahead = open(options);
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    ASSERT_TRUE(plain->begin_epoch(epoch));
    ASSERT_TRUE(ahead->begin_epoch(epoch));
    EXPECT_EQ(take(*ahead), take(*plain)) << epoch;
    EXPECT_EQ(ahead->next(60s)->state, NextState::kEnd) << "until the next epoch begins";
    EXPECT_EQ(ahead->state().position.epoch, epoch + 1);
  }
  ASSERT_TRUE(plain->begin_epoch(7));
  ASSERT_TRUE(ahead->begin_epoch(7)) << "not the one that lies ready";
  EXPECT_EQ(take(*ahead), take(*plain));
}

TEST_F(LoaderResume, BadSamplesAreNotTriedAgain) {
  folder_.truncate(3);
  for (const OnError rule : {OnError::kSkip, OnError::kReplace}) {
    LoaderOptions options = folder_.options();
    options.on_error = rule;
    const auto first = open(options);
    ASSERT_TRUE(first->begin_epoch(0));
    take(*first);
    ASSERT_TRUE(first->begin_epoch(1));
    const Images expected = take(*first);
    EXPECT_EQ(first->stats().failed, 1U) << "tried once";
    EXPECT_THAT(first->state().bad, testing::ElementsAre(3));

    const auto second = open(options);
    ASSERT_TRUE(second->restore(saved(*first)));
    ASSERT_TRUE(second->begin_epoch(1));
    EXPECT_EQ(take(*second), expected);
    EXPECT_EQ(second->stats().failed, 0U);
  }
}

TEST_F(LoaderResume, BatchesMayBeSubmitted) {
  LoaderOptions options = folder_.options();
  options.shuffle = false;
  const auto loader = open(options);
  ASSERT_TRUE(loader->begin_epoch(0));
  const Images plain = take(*loader);

  ASSERT_TRUE(loader->begin_submitted_epoch(0));
  std::uint64_t submitted = 0;
  Images images;
  EXPECT_GT(loader->wanted_batches(), 0U);
  for (std::uint64_t size : {1U, 9U, 4U, 8U}) {  // 9 and 8 are larger than batch_size
    std::vector<std::uint64_t> batch(size);
    for (std::uint64_t& index : batch) index = submitted++;
    ASSERT_TRUE(loader->submit_batch(batch));
    const Images some = take(*loader, 1);
    EXPECT_EQ(some.size(), size);
    images.insert(images.end(), some.begin(), some.end());
  }
  EXPECT_EQ(images, plain);
  EXPECT_EQ(loader->next(1ms)->state, NextState::kTimeout) << "more may come";
  EXPECT_EQ(loader->state().position.batches, 4U);
  ASSERT_TRUE(loader->submit_batch(std::vector<std::uint64_t>{5, 5}));
  const Images twice = take(*loader, 1);
  EXPECT_NE(twice[0], twice[1]) << "a repeated index is drawn anew";
  ASSERT_TRUE(loader->finish_submitting());
  EXPECT_EQ(loader->next(60s)->state, NextState::kEnd);
  EXPECT_EQ(loader->state().position.epoch, 1U);
  EXPECT_FALSE(loader->submit_batch(std::vector<std::uint64_t>{1}));
}

TEST_F(LoaderResume, ReportedRowsEndNothing) {
  folder_.truncate(2);
  folder_.truncate(9);
  LoaderOptions options = folder_.options();
  options.on_error = OnError::kReport;
  const auto loader = open(options);
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    ASSERT_TRUE(loader->begin_submitted_epoch(epoch));
    ASSERT_TRUE(loader->submit_batch(std::vector<std::uint64_t>{1, 2, 3}));
    ASSERT_TRUE(loader->submit_batch(std::vector<std::uint64_t>{2, 9, 2, 4}));
    ASSERT_TRUE(loader->submit_batch(std::vector<std::uint64_t>{5}));
    ASSERT_TRUE(loader->finish_submitting());
    std::set<std::pair<std::uint64_t, int>> failed;
    for (const std::uint64_t batch : {0U, 1U, 2U}) {
      const Result<NextBatch> next = loader->next(60s);
      ASSERT_TRUE(next);
      ASSERT_EQ(next->state, NextState::kBatch);
      for (const FailedRow& row : loader->take_failed()) {
        EXPECT_TRUE(failed.insert({row.batch, row.row}).second) << "each is told once";
        EXPECT_EQ(row.code, ErrorCode::kCorruptData);
      }
      EXPECT_TRUE(failed.contains({0, 1}));
      EXPECT_GE(failed.size(), batch >= 1 ? 4U : 1U) << "those of a delivered batch are told";
    }
    EXPECT_EQ(loader->next(60s)->state, NextState::kEnd);
    EXPECT_EQ(loader->stats().failed, 2U) << "what is known to be broken is not read again";
  }
}

TEST_F(LoaderResume, SubmittedBatchesGoOnWhereTheStateSays) {
  const auto first = open(folder_.options());
  ASSERT_TRUE(first->begin_submitted_epoch(2));
  const std::vector<std::vector<std::uint64_t>> batches = {{1, 2}, {2, 3, 2}, {1}};
  for (const auto& batch : batches) ASSERT_TRUE(first->submit_batch(batch));
  take(*first, 1);
  const LoaderState state = saved(*first);
  EXPECT_EQ(state.position.batches, 1U);
  const Images expected = take(*first, 2);

  const auto second = open(folder_.options());
  ASSERT_TRUE(second->restore(state));
  ASSERT_TRUE(second->begin_submitted_epoch(2));
  ASSERT_TRUE(second->skip_batch(batches[0]));
  ASSERT_TRUE(second->submit_batch(batches[1]));
  ASSERT_TRUE(second->submit_batch(batches[2]));
  EXPECT_EQ(take(*second, 2), expected);
  EXPECT_EQ(second->state().position.batches, 3U);
}

TEST_F(LoaderResume, GeneratedOrdersTakeNoBatches) {
  const auto loader = open(folder_.options());
  const std::vector<std::uint64_t> batch = {1};
  EXPECT_FALSE(loader->submit_batch(batch)) << "no epoch has begun";
  ASSERT_TRUE(loader->begin_epoch(0));
  EXPECT_EQ(loader->submit_batch(batch).error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(take(*loader).size(), std::size_t{kResumedImages});
}

TEST_F(LoaderResume, RefusesTheStateOfAnotherDataSet) {
  const auto first = open(folder_.options());
  const LoaderState state = first->state();
  folder_.truncate(2);
  EXPECT_TRUE(open(folder_.options())->restore(state)) << "names, not contents";
  std::filesystem::remove(folder_.path_of(2));
  const Status status = open(folder_.options())->restore(state);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("another data set"));
}

}  // namespace
}  // namespace unstarve::feed
