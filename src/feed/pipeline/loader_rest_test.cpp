#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

using namespace std::chrono_literals;

/// Counts what is allocated and not released.
class CountedMemory final : public SlotMemory {
 public:
  void* allocate(std::size_t bytes) noexcept override {
    ++slots;
    return memory_.allocate(bytes);
  }
  void release(void* memory) noexcept override {
    --slots;
    memory_.release(memory);
  }
  std::atomic<int> slots{0};

 private:
  PageableMemory memory_;
};

class LoaderRest : public testing::Test {
 protected:
  LoaderRest() { parts_.memory = memory_; }

  std::unique_ptr<Loader> open() const { return *Loader::open(folder_.options(), parts_); }

  /// Mixes the next batch into `hash_`; false at the end.
  bool take(Loader& loader) {
    const Result<NextBatch> next = loader.next(1min);
    EXPECT_TRUE(next) << next.error().message;
    if (!next || next->state != NextState::kBatch) return false;
    hash_ = test::hash_of(*next->batch, hash_);
    return true;
  }

  test::JpegFolder folder_;
  std::shared_ptr<CountedMemory> memory_ = std::make_shared<CountedMemory>();
  LoaderParts parts_ = LoaderParts::real();
  std::uint64_t hash_ = test::EpochResult().hash;
};

TEST_F(LoaderRest, ALoaderThatRestedGoesOnWithTheSameBatches) {
  const std::uint64_t expected = test::run_epoch(*open(), 3).hash;
  const auto loader = open();
  ASSERT_TRUE(loader->begin_epoch(3));
  do {
    loader->rest();
    EXPECT_EQ(loader->thread_count(), 0);
    EXPECT_EQ(memory_->slots, 0);
    EXPECT_EQ(loader->stats().ready_batches, 0);
  } while (take(*loader));
  EXPECT_EQ(hash_, expected);
}

TEST_F(LoaderRest, WhatLayReadyIsLoadedAgain) {
  const std::uint64_t expected = test::run_epoch(*open(), 0).hash;
  const auto loader = open();
  ASSERT_TRUE(loader->begin_epoch(0));
  while (loader->stats().ready_batches < 4) std::this_thread::yield();
  EXPECT_TRUE(take(*loader));
  loader->rest();
  EXPECT_EQ(memory_->slots, 0);
  while (take(*loader)) loader->set_reads_ahead(true);
  EXPECT_EQ(hash_, expected);
}

TEST_F(LoaderRest, AnEpochThatBeginsAtRestStartsNoThreads) {
  const auto loader = open();
  loader->rest();
  ASSERT_TRUE(loader->begin_epoch(0));
  EXPECT_EQ(loader->thread_count(), 0);
  EXPECT_TRUE(take(*loader));
  EXPECT_EQ(loader->thread_count(), 2);
}

TEST_F(LoaderRest, WithoutReadingAheadABatchIsLoadedWhenItIsAskedFor) {
  const std::uint64_t expected = test::run_epoch(*open(), 0).hash;
  const auto loader = open();
  loader->set_reads_ahead(false);
  ASSERT_TRUE(loader->begin_epoch(0));
  for (std::uint64_t taken = 0; taken < 4; ++taken) {
    loader->rest();  // whatever the threads had begun is done
    EXPECT_EQ(loader->stats().images, 4 * taken);
    EXPECT_TRUE(take(*loader));
  }
  while (take(*loader)) {
  }
  EXPECT_EQ(hash_, expected);
}

TEST_F(LoaderRest, NothingHappensWhileAConsumerWaits) {
  const auto loader = open();
  ASSERT_TRUE(loader->begin_submitted_epoch(0));
  std::jthread consumer([&] { EXPECT_TRUE(take(*loader)); });
  while (loader->stats().consumer_wait_ns == 0) std::this_thread::yield();
  loader->rest();
  EXPECT_EQ(loader->thread_count(), 2);
  const std::vector<std::uint64_t> indices = {3, 1, 4, 2};
  EXPECT_TRUE(loader->submit_batch(indices));
}

TEST_F(LoaderRest, SubmittedBatchesAreAskedForOnce) {
  const auto loader = open();
  ASSERT_TRUE(loader->begin_submitted_epoch(0));
  const std::vector<std::uint64_t> indices = {3, 1, 4, 2};
  for (int batch = 0; batch < 4; ++batch) ASSERT_TRUE(loader->submit_batch(indices));
  while (loader->stats().ready_batches < 4) std::this_thread::yield();
  loader->rest();
  EXPECT_EQ(loader->wanted_batches(), 0U) << "four are known, though none of them is loaded";
  ASSERT_TRUE(loader->finish_submitting());
  for (int batch = 0; batch < 4; ++batch) EXPECT_TRUE(take(*loader));
  EXPECT_FALSE(take(*loader));
}

TEST(LoaderRestStress, RestsAtAnyTime) {
  const test::JpegFolder folder;
  const std::uint64_t expected = test::run_epoch(**Loader::open(folder.options()), 1).hash;
  const auto loader = *Loader::open(folder.options());
  std::atomic<bool> done{false};
  std::jthread disturber([&] {
    for (bool ahead = true; !done; ahead = !ahead) {
      loader->set_reads_ahead(ahead);
      loader->rest();
    }
  });
  for (int repeat = 0; repeat < 5; ++repeat) {
    const test::EpochResult result = test::run_epoch(*loader, 1);
    EXPECT_FALSE(result.error) << result.error->message;
    EXPECT_EQ(result.hash, expected);
  }
  done = true;
}

}  // namespace
}  // namespace unstarve::feed
