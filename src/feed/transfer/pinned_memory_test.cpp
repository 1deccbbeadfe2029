#include "feed/transfer/pinned_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "device/emulated/pinned_pages.h"
#include "feed/batch/batch_pool.h"

namespace unstarve::feed {
namespace {

using device::emulated::is_pinned;
using device::emulated::PinnedPages;

/// Pins as the emulated GPU does, but the calls from the `first_failing` one on fail.
class FailingHost final : public device::PinnedHost {
 public:
  explicit FailingHost(int first_failing) : first_failing_(first_failing) {}
  Result<void*> allocate(std::size_t bytes) override {
    const int call = ++calls_;
    if (call >= first_failing_) return fail(ErrorCode::kOutOfMemory, "failure {}", call);
    return pages_.allocate(bytes);
  }
  void release(void* memory) noexcept override { pages_.release(memory); }
  std::string name() const override { return "a test"; }

 private:
  const int first_failing_;
  std::atomic<int> calls_{0};
  PinnedPages pages_;
};

BatchShape small_batch() { return {.batch_size = 4, .height = 8, .width = 8}; }

TEST(PinnedMemoryTest, BatchesLieInPinnedMemoryAndUseItAgain) {
  const auto memory = std::make_shared<PinnedMemory>(std::make_unique<PinnedPages>());
  const auto pool = BatchPool::create(small_batch(), 2, memory);
  const void* first = nullptr;
  {
    const Result<HostBatch> batch = pool->acquire(4);
    ASSERT_TRUE(batch);
    first = batch->image(0);
    EXPECT_TRUE(is_pinned(batch->image(3)));
    EXPECT_TRUE(is_pinned(batch->labels()));
  }
  EXPECT_EQ(pool->acquire(4)->image(0), first);
  EXPECT_EQ(memory->slots().pinned, 1U);
  EXPECT_EQ(memory->why_pageable(), "");
  EXPECT_EQ(memory->pinned_by(), "the emulated GPU");
}

TEST(PinnedMemoryTest, WhateverFailsTheSlotIsThereAndTheFirstReasonIsKept) {
  constexpr int kSlots = 5;
  for (int first_failing = 1; first_failing <= kSlots + 1; ++first_failing) {
    SCOPED_TRACE(first_failing);
    PinnedMemory memory(std::make_unique<FailingHost>(first_failing));
    std::vector<void*> slots;
    for (int i = 0; i < kSlots; ++i) {
      slots.push_back(memory.allocate(1000));
      ASSERT_NE(slots.back(), nullptr);
      std::memset(slots.back(), i, 1000);
      EXPECT_EQ(is_pinned(slots.back()), i + 1 < first_failing);
    }
    const auto pinned = static_cast<std::size_t>(first_failing - 1);
    EXPECT_EQ(memory.slots().pinned, pinned);
    EXPECT_EQ(memory.slots().pageable, kSlots - pinned);
    const bool all = first_failing > kSlots;
    EXPECT_EQ(memory.why_pageable(), all ? "" : "failure " + std::to_string(first_failing));
    for (void* slot : slots) memory.release(slot);
    EXPECT_EQ(memory.slots().pinned, 0U);
    EXPECT_EQ(memory.slots().pageable, 0U);
  }
}

TEST(PinnedMemoryStress, ThreadsTakeAndGiveBack) {
  const auto memory = std::make_shared<PinnedMemory>(std::make_unique<FailingHost>(200));
  const auto pool = BatchPool::create(small_batch(), 1, memory);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&pool] {
        for (int i = 0; i < 200; ++i) {
          const Result<HostBatch> batch = pool->acquire(4);
          ASSERT_TRUE(batch);
          std::memset(batch->image(0), i, batch->shape().image_bytes());
        }
      });
    }
  }
  EXPECT_LE(memory->slots().pinned + memory->slots().pageable, 1U);
}

}  // namespace
}  // namespace unstarve::feed
