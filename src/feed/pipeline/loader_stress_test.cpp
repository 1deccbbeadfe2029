#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

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

TEST(LoaderStress, TheControllerMovesWhileEpochsRunOn) {
  const test::JpegFolder folder;
  LoaderParts parts = LoaderParts::real();
  const auto clock = std::make_shared<ManualClock>(1);
  parts.clock = clock;
  std::atomic<int> cpus{1};
  parts.cpus = [&cpus] { return 1 + cpus++ % 8; };
  LoaderOptions options = folder.options();
  options.threads = 0;
  options.prefetch_batches = 0;
  options.prefetch_next_epoch = true;
  for (int repeat = 0; repeat < 8; ++repeat) {
    auto loader = *Loader::open(options, parts);
    std::jthread observer([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        EXPECT_GE(loader->thread_count(), 1);
        EXPECT_TRUE(parse_loader_state(to_json(loader->state())));
        (void)loader->explain();
      }
    });
    for (std::uint32_t epoch = 0; epoch < 12; ++epoch) {
      ASSERT_TRUE(loader->begin_epoch(epoch));
      for (;;) {
        clock->advance_ns(epoch % 3 == 0 ? 400'000'000 : 1'000'000);
        const Result<NextBatch> next = loader->next(60s);
        ASSERT_TRUE(next);
        if (next->state == NextState::kEnd) break;
      }
    }
    observer.request_stop();
    observer.join();
  }
}

TEST(LoaderStress, BatchesAreSubmittedFromAnotherThread) {
  const test::JpegFolder folder;
  auto loader = *Loader::open(folder.options());
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch) {
    ASSERT_TRUE(loader->begin_submitted_epoch(epoch));
    std::jthread sampler([&] {
      for (std::uint64_t batch = 0; batch < 40; ++batch) {
        EXPECT_TRUE(loader->submit_batch(std::vector<std::uint64_t>(1 + batch % 7, batch % 22)));
        (void)loader->wanted_batches();
      }
      EXPECT_TRUE(loader->finish_submitting());
    });
    for (std::uint64_t batch = 0;; ++batch) {
      const Result<NextBatch> next = loader->next(60s);
      ASSERT_TRUE(next);
      if (next->state == NextState::kEnd) {
        EXPECT_EQ(batch, 40U);
        break;
      }
      EXPECT_EQ(next->batch->batch, batch);
      EXPECT_EQ(next->batch->count, static_cast<int>(1 + batch % 7));
    }
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
