#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "emulated/process/testing/process_gpu_fixture.h"

namespace unstarve::emulated {
namespace {

class ProcessMemoryTest : public ProcessGpuTest {};

TEST_F(ProcessMemoryTest, MemoryIsCountedAndGivenBack) {
  std::size_t before = 0;
  std::size_t total = 0;
  gpu_.memory_info(&before, &total);
  void* memory = device(1 << 30);
  std::size_t after = 0;
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before - after, 1U << 30);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (2 << 20), 0U);
  void* none = nullptr;
  EXPECT_EQ(gpu_.allocate(total, MemoryPlace::kDevice, &none), Outcome::kOutOfMemory);
  EXPECT_EQ(none, nullptr);
  const Allocation found = find_allocation(static_cast<char*>(memory) + 12345);
  EXPECT_EQ(found.place, MemoryPlace::kDevice);
  EXPECT_EQ(found.base, reinterpret_cast<std::uintptr_t>(memory));
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
  EXPECT_EQ(gpu_.free(memory), Outcome::kInvalidValue);
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before, after);
}

TEST_F(ProcessMemoryTest, AResetFreesWhatWasAllocated) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  gpu_.memory_info(&before, &total);
  void* memory = device(64 << 20);
  EXPECT_EQ(gpu_.reset(), Outcome::kSuccess);
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before, after);
  EXPECT_EQ(find_allocation(memory).place, MemoryPlace::kUnregistered);
}

TEST_F(ProcessMemoryTest, HostMemoryIsRegisteredOnce) {
  std::vector<char> memory(10'000);
  EXPECT_EQ(register_host(memory.data(), memory.size()), Outcome::kSuccess);
  EXPECT_EQ(register_host(memory.data() + 100, 10), Outcome::kHostMemoryAlreadyRegistered);
  EXPECT_TRUE(find_allocation(memory.data()).registered);
  EXPECT_EQ(free_pinned(memory.data()), Outcome::kInvalidValue);
  EXPECT_EQ(unregister_host(memory.data()), Outcome::kSuccess);
  EXPECT_EQ(unregister_host(memory.data()), Outcome::kHostMemoryNotRegistered);
}

TEST_F(ProcessMemoryTest, SmallCopiesComeBackUntilAKernelRan) {
  void* memory = device(4096);
  const int sent = 42;
  int got = 7;
  EXPECT_EQ(copy(memory, &sent, sizeof(sent)), Outcome::kSuccess);
  EXPECT_EQ(copy(&got, memory, sizeof(got)), Outcome::kSuccess);
  EXPECT_EQ(got, 42);
  run(1000);
  EXPECT_EQ(copy(&got, memory, sizeof(got)), Outcome::kSuccess);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessMemoryTest, LargeCopiesToTheHostAreZerosThatReallyArrive) {
  constexpr std::size_t kAllocated = 8 << 20;
  void* memory = device(kAllocated);
  std::vector<char> pageable(kAllocated, 'x');
  EXPECT_EQ(copy(memory, pageable.data(), kAllocated), Outcome::kSuccess);
  EXPECT_EQ(copy(pageable.data(), memory, kAllocated), Outcome::kSuccess);
  EXPECT_EQ(std::count(pageable.begin(), pageable.end(), '\0'), kAllocated);
  void* pinned = nullptr;
  ASSERT_EQ(allocate_pinned(kAllocated, &pinned), Outcome::kSuccess);
  std::memset(pinned, 'x', kAllocated);
  EXPECT_EQ(copy(pinned, memory, kAllocated, false), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  const auto* bytes = static_cast<const char*>(pinned);
  EXPECT_EQ(std::count(bytes, bytes + kAllocated, '\0'), kAllocated);
  EXPECT_EQ(free_pinned(pinned), Outcome::kSuccess);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessMemoryTest, RowsOfACopyLieWhereTheirPitchesSay) {
  void* memory = device(4096);
  const std::string sent = "ab..cd..";
  std::string got = "........";
  Copy2d rows{.target = memory,
              .target_pitch = 512,
              .source = sent.data(),
              .source_pitch = 4,
              .width_bytes = 2,
              .height = 2,
              .waits = true};
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kSuccess);
  rows = {.target = got.data(),
          .target_pitch = 4,
          .source = memory,
          .source_pitch = 512,
          .width_bytes = 2,
          .height = 2,
          .waits = true};
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kSuccess);
  EXPECT_EQ(got, "ab..cd..");
  rows.source_pitch = 4095;  // the second row would lie behind the allocation
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kInvalidValue);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

}  // namespace
}  // namespace unstarve::emulated
