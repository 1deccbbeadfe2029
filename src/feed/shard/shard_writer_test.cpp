#include "feed/shard/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feed/shard/testing/shard_set.h"

namespace unstarve::feed {
namespace {

using test::folder_bytes;
using test::MadeSample;
using test::small_set;
using test::write_set;
using testing::HasSubstr;

constexpr std::uint64_t kPackedSamples = 14;

std::string undisturbed() {
  const TestFolder folder;
  EXPECT_TRUE(write_set(test::quick_files(), small_set(folder.path()), kPackedSamples));
  return folder_bytes(folder.path());
}

TEST(ShardSetWriter, GoesOnAfterEveryFailureAndEndsWithTheSameBytes) {
  const std::string expected = undisturbed();
  for (const double kept_ratio : {0.0, 0.4, 1.0}) {
    for (int nth = 1;; ++nth) {
      const TestFolder folder;
      const auto storage = std::make_shared<test::DyingFiles>(nth, kept_ratio);
      const Status status = write_set(storage, small_set(folder.path()), kPackedSamples);
      if (!storage->died()) {
        EXPECT_TRUE(status);
        EXPECT_GT(nth, 30);
        break;
      }
      EXPECT_FALSE(status);
      EXPECT_FALSE(status.error().message.empty());
      const Status second =
          write_set(test::quick_files(), small_set(folder.path()), kPackedSamples);
      ASSERT_TRUE(second) << second.error().message;
      ASSERT_EQ(folder_bytes(folder.path()), expected) << "call " << nth << ", " << kept_ratio;
    }
  }
}

TEST(ShardSetWriter, GoesOnAfterSeveralKillsInARow) {
  const TestFolder folder;
  int runs = 0;
  for (;; ++runs) {
    const auto storage = std::make_shared<test::DyingFiles>(6 + 2 * runs, 0.5);
    if (write_set(storage, small_set(folder.path()), kPackedSamples)) break;
    ASSERT_LT(runs, 100);
  }
  EXPECT_GT(runs, 3);
  EXPECT_EQ(folder_bytes(folder.path()), undisturbed());
}

TEST(ShardSetWriter, LeavesAWholeSetAlone) {
  const TestFolder folder;
  ASSERT_TRUE(write_set(test::quick_files(), small_set(folder.path()), kPackedSamples));
  const auto writer = ShardSetWriter::open(test::quick_files(), small_set(folder.path()));
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->is_whole());
  EXPECT_EQ(writer->samples(), kPackedSamples);
  EXPECT_EQ(folder_bytes(folder.path()), undisturbed());
}

TEST(ShardSetWriter, RefusesAnotherSetAndASecondWriter) {
  const TestFolder folder;
  ShardSetOptions other = small_set(folder.path());
  other.set_id = 43;
  {
    auto writer = ShardSetWriter::open(test::quick_files(), small_set(folder.path()));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(MadeSample(0).view()));
    const auto second = ShardSetWriter::open(test::quick_files(), small_set(folder.path()));
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("another process"));
  }
  EXPECT_THAT(ShardSetWriter::open(test::quick_files(), other).error().message,
              HasSubstr("other files or with other options"));
  ASSERT_TRUE(write_set(test::quick_files(), small_set(folder.path()), 3));
  EXPECT_THAT(ShardSetWriter::open(test::quick_files(), other).error().message,
              HasSubstr("other files or with other options"));
}

TEST(ShardSetWriter, RefusesWhatCannotBeStored) {
  const TestFolder folder;
  auto writer = ShardSetWriter::open(test::quick_files(), small_set(folder.path()));
  MadeSample sample(0);
  sample.name = std::string(5000, 'n');
  EXPECT_EQ(writer->append(sample.view()).error().code, ErrorCode::kInvalidArgument);
  const MadeSample sound(0);
  ShardSample odd = sound.view();
  odd.head_size = 1'000'000;
  EXPECT_EQ(writer->append(odd).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace unstarve::feed
