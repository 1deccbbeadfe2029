#include "emulated/engine/memory_account.h"

#include <gtest/gtest.h>

#include "emulated/engine/address_map.h"

namespace unstarve::emulated {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(MemoryAccountTest, CountsWholePages) {
  MemoryAccount account;
  EXPECT_TRUE(account.take(3 * kMiB, 100 * kMiB));
  EXPECT_EQ(account.used_bytes(), 4 * kMiB);
  account.give(3 * kMiB);
  EXPECT_EQ(account.used_bytes(), 0U);
}

TEST(MemoryAccountTest, SmallAllocationsShareAPage) {
  MemoryAccount account;
  for (int i = 0; i < 4096; ++i) EXPECT_TRUE(account.take(1, 2 * kMiB));
  EXPECT_EQ(account.used_bytes(), 2 * kMiB);
  EXPECT_FALSE(account.take(1, 2 * kMiB));  // 4,096 pieces of 512 bytes fill it
  EXPECT_TRUE(account.take(1, 4 * kMiB));
  EXPECT_EQ(account.used_bytes(), 4 * kMiB);
}

TEST(MemoryAccountTest, ARefusedAllocationTakesNothing) {
  MemoryAccount account;
  EXPECT_FALSE(account.take(101 * kMiB, 100 * kMiB));
  EXPECT_FALSE(account.take(UINT64_MAX, 100 * kMiB));
  EXPECT_EQ(account.used_bytes(), 0U);
}

TEST(AddressMapTest, FindsTheRangeThatHoldsAnAddress) {
  AddressMap<int> map;
  EXPECT_TRUE(map.add(100, 10, 1));
  EXPECT_TRUE(map.add(110, 10, 2));
  EXPECT_EQ(map.find(99), nullptr);
  EXPECT_EQ(map.find(100)->value, 1);
  EXPECT_EQ(map.find(109)->value, 1);
  EXPECT_EQ(map.find(110)->value, 2);
  EXPECT_EQ(map.find(120), nullptr);
}

TEST(AddressMapTest, TakesNoRangeThatOverlaps) {
  AddressMap<int> map;
  EXPECT_TRUE(map.add(100, 10, 1));
  EXPECT_FALSE(map.add(109, 1, 2));
  EXPECT_FALSE(map.add(95, 6, 2));
  EXPECT_FALSE(map.add(90, 100, 2));
  EXPECT_FALSE(map.add(100, 10, 2));
  EXPECT_TRUE(map.add(90, 10, 2));
}

TEST(AddressMapTest, RemovesWhatIsChosen) {
  AddressMap<int> map;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(map.add(static_cast<std::uintptr_t>(10 * i), 10, i));
  EXPECT_EQ(map.remove_if([](int value) { return value % 2 == 1; }).size(), 5U);
  EXPECT_EQ(map.find(15), nullptr);
  EXPECT_EQ(map.find(25)->value, 2);
}

TEST(AddressMapTest, RemovesByTheBaseAlone) {
  AddressMap<int> map;
  EXPECT_TRUE(map.add(100, 10, 1));
  EXPECT_FALSE(map.remove(105));
  EXPECT_EQ(map.remove(100)->bytes, 10U);
  EXPECT_EQ(map.find(100), nullptr);
}

}  // namespace
}  // namespace unstarve::emulated
