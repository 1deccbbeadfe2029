#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"
#include "roofline/roofs/disk/disk_reads.h"
#include "roofline/roofs/disk/scratch_file.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMib = 1ULL << 20;
constexpr std::uint64_t kGib = 1ULL << 30;

TEST(ScratchBytes, NeverFillTheDisk) {
  EXPECT_EQ(scratch_bytes(kGib, 500 * kGib, 1000 * kGib), kGib);
  EXPECT_EQ(scratch_bytes(kGib, 5 * kGib, 10 * kGib), 512 * kMib);
  // A twentieth of the disk stays free.
  EXPECT_EQ(scratch_bytes(kGib, 50 * kGib + 100 * kMib, 1000 * kGib), 100 * kMib);
  EXPECT_EQ(scratch_bytes(kGib, 50 * kGib, 1000 * kGib), 0U);
  EXPECT_EQ(scratch_bytes(kGib, kGib, 2 * kGib), 0U);
  EXPECT_EQ(scratch_bytes(3, 500 * kGib, 1000 * kGib), 0U);
}

TEST(ScratchFile, IsSeenByNobodyAndAsLargeAsItSays) {
  SteadyClock clock;
  Session session(clock, {});
  const TestFolder folder;
  const auto scratch = make_scratch_file(
      {.folder = folder.path(), .most_bytes = 8 * kMib, .duration_ns = 10'000'000'000}, session);
  ASSERT_TRUE(scratch) << scratch.error().message;
  EXPECT_EQ(scratch->bytes, 8 * kMib);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchFile, AFolderThatIsNotThereIsSaid) {
  SteadyClock clock;
  Session session(clock, {});
  Machine machine;
  machine.free_memory_bytes = kGib;
  measure_disk(machine, {.folder = "/nowhere/at/all"}, 1'000'000, session);
  ASSERT_EQ(session.result().absent.size(), 2U);
  EXPECT_THAT(session.result().absent[1].reason, HasSubstr("/nowhere/at/all"));
}

TEST(Disk, AFolderInMemoryHasNone) {
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "no /dev/shm";
  SteadyClock clock;
  Session session(clock, {});
  Machine machine;
  machine.free_memory_bytes = 64 * kMib;
  measure_disk(machine, {.folder = "/dev/shm", .most_bytes = 4 * kMib}, 2'000'000'000, session);
  ASSERT_EQ(session.result().absent.size(), 1U);
  EXPECT_EQ(session.result().absent[0].name, "disk");
  EXPECT_THAT(session.result().absent[0].reason, HasSubstr("tmpfs"));
  ASSERT_EQ(session.result().roofs.size(), 1U);
  EXPECT_EQ(session.result().roofs[0].name, "page_cache.read.1_threads");
}

}  // namespace
}  // namespace unstarve::roofline
