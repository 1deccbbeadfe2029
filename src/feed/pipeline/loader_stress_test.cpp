#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "feed/pipeline/jpeg_folder_for_test.h"
#include "feed/pipeline/loader.h"

namespace unstarve::feed {
namespace {

using namespace std::chrono_literals;

TEST(LoaderStress, EpochsAreLeftAtAnyPointByAnyNumberOfThreads) {
  const test::JpegFolder folder;
  for (int repeat = 0; repeat < 24; ++repeat) {
    LoaderOptions options = folder.options();
    options.threads = 1 + repeat % 8;
    options.batch_size = 1 + repeat % 5;
    options.prefetch_batches = 1 + repeat % 4;
    std::vector<HostBatch> hoarded;
    auto loader = *Loader::open(options);
    for (std::uint32_t epoch = 0; epoch < 6; ++epoch) {
      ASSERT_TRUE(loader->begin_epoch(epoch));
      for (int taken = 0; taken < repeat % 7; ++taken) {
        Result<NextBatch> next = loader->next(60s);
        ASSERT_TRUE(next);
        if (next->state != NextState::kBatch) break;
        if (taken % 2 == 0) hoarded.push_back(std::move(*next->batch));
      }
    }
    loader.reset();
    for (const HostBatch& batch : hoarded) test::hash_of(batch, 0);
  }
}

TEST(LoaderStress, OtherThreadsMayLookAndInterrupt) {
  const test::JpegFolder folder;
  auto loader = *Loader::open(folder.options());
  std::atomic<bool> over{false};
  std::jthread observer([&] {
    std::uint64_t images = 0;
    while (!over) {
      const std::uint64_t now = loader->stats().images;
      EXPECT_GE(now, images);
      images = now;
      (void)loader->failures();
    }
  });
  std::jthread interrupter([&] {
    for (std::uint32_t epoch = 0; !over; ++epoch) EXPECT_TRUE(loader->begin_epoch(epoch));
  });
  int batches = 0;
  while (batches < 200) {
    const Result<NextBatch> next = loader->next(60s);
    if (!next) {
      ASSERT_EQ(next.error().code, ErrorCode::kCancelled) << next.error().message;
      continue;
    }
    ++batches;  // or an end: the interrupter starts another epoch
  }
  over = true;
}

}  // namespace
}  // namespace unstarve::feed
