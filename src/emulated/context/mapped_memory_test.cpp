#include "emulated/context/mapped_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "emulated/process/testing/process_gpu_fixture.h"

namespace unstarve::emulated {
namespace {

constexpr std::size_t kPart = 2 * kMappingGranularity;

class MappedMemoryTest : public ProcessGpuTest {
 protected:
  MappedMemoryTest() {
    void* reserved = nullptr;
    EXPECT_EQ(reserve_addresses(8 * kPart, 0, &reserved), Outcome::kSuccess);
    base_ = static_cast<std::byte*>(reserved);
    EXPECT_EQ(create_memory(gpu_, kPart, &handle_), Outcome::kSuccess);
  }
  ~MappedMemoryTest() override {
    static_cast<void>(unmap_memory(base_, 8 * kPart));
    static_cast<void>(release_memory(handle_));
    EXPECT_EQ(free_addresses(base_, 8 * kPart), Outcome::kSuccess);
  }

  std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    gpu_.memory_info(&free, &total);
    return free;
  }
  Outcome map_part(std::size_t part) { return map_memory(base_ + part * kPart, kPart, 0, handle_); }
  std::size_t known_bytes(std::size_t part) { return find_allocation(base_ + part * kPart).bytes; }

  std::byte* base_ = nullptr;
  std::uint64_t handle_ = 0;
};

TEST_F(MappedMemoryTest, NeighboursAreOneRange) {
  EXPECT_EQ(map_part(0), Outcome::kSuccess);
  EXPECT_EQ(map_part(2), Outcome::kSuccess);
  EXPECT_EQ(known_bytes(0), kPart);
  EXPECT_EQ(map_part(1), Outcome::kSuccess);
  EXPECT_EQ(known_bytes(0), 3 * kPart);
  EXPECT_TRUE(is_mapped(base_, 3 * kPart));
}

TEST_F(MappedMemoryTest, UnmappingTheMiddleLeavesBothEnds) {
  for (std::size_t part = 0; part < 3; ++part) EXPECT_EQ(map_part(part), Outcome::kSuccess);
  EXPECT_EQ(unmap_memory(base_ + kPart, kPart), Outcome::kSuccess);
  EXPECT_EQ(known_bytes(0), kPart);
  EXPECT_EQ(find_allocation(base_ + kPart).place, MemoryPlace::kUnregistered);
  EXPECT_EQ(known_bytes(2), kPart);
  EXPECT_FALSE(is_mapped(base_, 3 * kPart));
}

TEST_F(MappedMemoryTest, MemoryIsGivenBackWhenItIsMappedNowhere) {
  const std::size_t before = free_bytes();
  std::uint64_t handle = 0;
  ASSERT_EQ(create_memory(gpu_, kPart, &handle), Outcome::kSuccess);
  EXPECT_EQ(free_bytes(), before - kPart);
  EXPECT_EQ(map_memory(base_, kPart, 0, handle), Outcome::kSuccess);
  EXPECT_EQ(release_memory(handle), Outcome::kSuccess);
  EXPECT_EQ(free_bytes(), before - kPart);
  EXPECT_EQ(unmap_memory(base_, kPart), Outcome::kSuccess);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(MappedMemoryTest, WhatDoesNotFitIsRefused) {
  std::uint64_t other = 0;
  EXPECT_EQ(create_memory(gpu_, 1000, &other), Outcome::kInvalidValue);
  EXPECT_EQ(map_memory(base_ + 4096, kPart, 0, handle_), Outcome::kInvalidValue);
  EXPECT_EQ(map_memory(base_ + 8 * kPart, kPart, 0, handle_), Outcome::kInvalidValue);
  EXPECT_EQ(map_memory(base_, 2 * kPart, 0, handle_), Outcome::kInvalidValue);
  EXPECT_EQ(map_part(0), Outcome::kSuccess);
  EXPECT_EQ(map_part(0), Outcome::kInvalidValue);
  EXPECT_EQ(free_addresses(base_, 8 * kPart), Outcome::kInvalidValue);
}

TEST_F(MappedMemoryTest, AnotherProcessTakesItByADescriptor) {
  const std::size_t before = free_bytes();
  int descriptor = -1;
  ASSERT_EQ(export_memory(handle_, &descriptor), Outcome::kSuccess);
  std::uint64_t imported = 0;
  EXPECT_EQ(import_memory(descriptor, &imported), Outcome::kSuccess);
  MemoryFacts facts;
  EXPECT_EQ(describe_memory(imported, &facts), Outcome::kSuccess);
  EXPECT_EQ(facts.bytes, kPart);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(release_memory(imported), Outcome::kSuccess);
  ::close(descriptor);
  EXPECT_EQ(import_memory(-1, &imported), Outcome::kInvalidValue);
}

}  // namespace
}  // namespace unstarve::emulated
