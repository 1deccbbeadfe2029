#include "emulated/context/memory_pool.h"

#include <gtest/gtest.h>

#include "emulated/process/testing/process_gpu_fixture.h"

namespace unstarve::emulated {
namespace {

constexpr std::size_t kBytes = 64U << 20U;

class MemoryPoolTest : public ProcessGpuTest {
 protected:
  std::uint64_t used() {
    std::uint64_t bytes = 0;
    EXPECT_EQ(get_attribute(pool_, PoolAttribute::kUsedBytes, &bytes), Outcome::kSuccess);
    return bytes;
  }

  MemoryPool* const pool_ = default_pool(gpu_.index());
};

TEST_F(MemoryPoolTest, CountsWhatIsUsed) {
  void* memory = nullptr;
  EXPECT_EQ(allocate_from(pool_, stream_, kBytes, &memory), Outcome::kSuccess);
  EXPECT_EQ(used(), kBytes);
  EXPECT_EQ(free_to_pool(stream_, memory), Outcome::kSuccess);
  EXPECT_EQ(used(), 0U);
  EXPECT_EQ(free_to_pool(stream_, memory), Outcome::kInvalidValue);
}

TEST_F(MemoryPoolTest, OthersGetMemoryWhenItsStreamHasGotThere) {
  void* memory = nullptr;
  ASSERT_EQ(allocate_from(pool_, stream_, kBytes, &memory), Outcome::kSuccess);
  run(300 * kMs);
  EXPECT_EQ(free_to_pool(stream_, memory), Outcome::kSuccess);
  EXPECT_EQ(find_allocation(memory).place, MemoryPlace::kDevice);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  settle_pools();
  EXPECT_EQ(find_allocation(memory).place, MemoryPlace::kUnregistered);
}

TEST_F(MemoryPoolTest, AStreamUsesItsOwnFreedMemoryWhereThereIsNoOther) {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  gpu_.memory_info(&free_bytes, &total);
  void* memory = nullptr;
  const std::size_t most = free_bytes / 10 * 9;
  ASSERT_EQ(allocate_from(pool_, stream_, most, &memory), Outcome::kSuccess);
  run(300 * kMs);
  EXPECT_EQ(free_to_pool(stream_, memory), Outcome::kSuccess);
  EXPECT_EQ(allocate_from(pool_, stream_, most, &memory), Outcome::kSuccess);
  EXPECT_EQ(gpu_.query(stream_), Outcome::kNotReady);
  EXPECT_EQ(free_to_pool(stream_, memory), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  settle_pools();
}

TEST_F(MemoryPoolTest, APoolOfOnesOwnCanBeDestroyed) {
  MemoryPool* own = nullptr;
  ASSERT_EQ(create_pool(gpu_.index(), &own), Outcome::kSuccess);
  EXPECT_EQ(find_pool(own), own);
  EXPECT_EQ(destroy_pool(own), Outcome::kSuccess);
  EXPECT_EQ(find_pool(own), nullptr);
  EXPECT_EQ(destroy_pool(pool_), Outcome::kInvalidValue);
}

}  // namespace
}  // namespace unstarve::emulated
