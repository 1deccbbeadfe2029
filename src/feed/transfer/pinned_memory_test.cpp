#include "feed/transfer/pinned_memory.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "feed/batch/batch_pool.h"

namespace unstarve::feed {
namespace {

/// Gives out memory as CUDA's driver does and knows what it gave; the calls from the
/// `first_failing` one on fail.
class TestHost final : public device::PinnedHost {
 public:
  explicit TestHost(int first_failing = INT_MAX) : first_failing_(first_failing) {}

  Result<void*> allocate(std::size_t bytes) override {
    MutexLock lock(mutex_);
    if (++calls_ >= first_failing_) return fail(ErrorCode::kOutOfMemory, "failure {}", calls_);
    void* const memory = std::malloc(bytes);
    given_[static_cast<const std::byte*>(memory)] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    MutexLock lock(mutex_);
    ASSERT_EQ(given_.erase(static_cast<const std::byte*>(memory)), 1U);
    std::free(memory);
  }
  std::string name() const override { return "a test"; }

  /// Whether `address` lies in memory that is out.
  bool gave(const void* address) const {
    MutexLock lock(mutex_);
    const auto* const byte = static_cast<const std::byte*>(address);
    const auto after = given_.upper_bound(byte);
    if (after == given_.begin()) return false;
    const auto& [first, bytes] = *std::prev(after);
    return byte < first + bytes;
  }

 private:
  const int first_failing_;
  mutable Mutex mutex_;
  int calls_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::map<const std::byte*, std::size_t> given_ UNSTARVE_GUARDED_BY(mutex_);
};

BatchShape small_batch() { return {.batch_size = 4, .height = 8, .width = 8}; }

TEST(PinnedMemoryTest, BatchesLieInPinnedMemoryAndUseItAgain) {
  auto owned = std::make_unique<TestHost>();
  const TestHost& host = *owned;
  const auto memory = std::make_shared<PinnedMemory>(std::move(owned));
  const auto pool = BatchPool::create(small_batch(), 2, memory);
  const void* first = nullptr;
  {
    const Result<HostBatch> batch = pool->acquire(4);
    ASSERT_TRUE(batch);
    first = batch->image(0);
    EXPECT_TRUE(host.gave(batch->image(3)));
    EXPECT_TRUE(host.gave(batch->labels()));
  }
  EXPECT_EQ(pool->acquire(4)->image(0), first);
  EXPECT_EQ(memory->slots().pinned, 1U);
  EXPECT_EQ(memory->why_pageable(), "");
  EXPECT_EQ(memory->pinned_by(), "a test");
}

TEST(PinnedMemoryTest, WhateverFailsTheSlotIsThereAndTheFirstReasonIsKept) {
  constexpr int kSlots = 5;
  for (int first_failing = 1; first_failing <= kSlots + 1; ++first_failing) {
    SCOPED_TRACE(first_failing);
    auto owned = std::make_unique<TestHost>(first_failing);
    const TestHost& host = *owned;
    PinnedMemory memory(std::move(owned));
    std::vector<void*> slots;
    for (int i = 0; i < kSlots; ++i) {
      slots.push_back(memory.allocate(1000));
      ASSERT_NE(slots.back(), nullptr);
      std::memset(slots.back(), i, 1000);
      EXPECT_EQ(host.gave(slots.back()), i + 1 < first_failing);
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
  const auto memory = std::make_shared<PinnedMemory>(std::make_unique<TestHost>(200));
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
