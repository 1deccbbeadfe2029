#include "feed/shard/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "feed/shard/shard_set_for_test.h"

namespace unstarve::feed {
namespace {

using test::folder_bytes;
using test::MadeSample;
using test::small_set;
using test::write_set;
using testing::HasSubstr;

constexpr std::uint64_t kSamples = 14;

/// From its n-th change of a file on nothing happens any more, as after a kill or on a full disk.
/// Of the write that fails first, `kept_ratio` reaches the file.
class DyingStorage final : public test::QuickStorage {
 public:
  DyingStorage(int nth, double kept_ratio) : nth_(nth), kept_ratio_(kept_ratio) {}

  Status write(int file, std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (++calls_ < nth_) return Storage::write(file, offset, bytes);
    if (calls_ == nth_) {
      const auto kept = static_cast<std::size_t>(kept_ratio_ * static_cast<double>(bytes.size()));
      if (Status status = Storage::write(file, offset, bytes.first(kept)); !status) return status;
    }
    return fail_errno(ENOSPC, "cannot write");
  }
  Status truncate(int file, std::uint64_t size) override {
    if (++calls_ < nth_) return Storage::truncate(file, size);
    return fail_errno(EIO, "cannot cut");
  }
  Status sync(int file) override {
    if (++calls_ < nth_) return QuickStorage::sync(file);
    return fail_errno(EIO, "cannot sync");
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (++calls_ < nth_) return Storage::rename(from, to);
    return fail_errno(EIO, "cannot rename");
  }
  bool died() const { return calls_ >= nth_; }

 private:
  const int nth_;
  const double kept_ratio_;
  int calls_ = 0;
};

std::string undisturbed() {
  const TestFolder folder;
  EXPECT_TRUE(write_set(test::quick_storage(), small_set(folder.path()), kSamples));
  return folder_bytes(folder.path());
}

TEST(ShardSetWriter, GoesOnAfterEveryFailureAndEndsWithTheSameBytes) {
  const std::string expected = undisturbed();
  for (const double kept_ratio : {0.0, 0.4, 1.0}) {
    for (int nth = 1;; ++nth) {
      const TestFolder folder;
      const auto storage = std::make_shared<DyingStorage>(nth, kept_ratio);
      const Status status = write_set(storage, small_set(folder.path()), kSamples);
      if (!storage->died()) {
        EXPECT_TRUE(status);
        EXPECT_GT(nth, 30);
        break;
      }
      EXPECT_FALSE(status);
      EXPECT_FALSE(status.error().message.empty());
      const Status second = write_set(test::quick_storage(), small_set(folder.path()), kSamples);
      ASSERT_TRUE(second) << second.error().message;
      ASSERT_EQ(folder_bytes(folder.path()), expected) << "call " << nth << ", " << kept_ratio;
    }
  }
}

TEST(ShardSetWriter, GoesOnAfterSeveralKillsInARow) {
  const TestFolder folder;
  int runs = 0;
  for (;; ++runs) {
    const auto storage = std::make_shared<DyingStorage>(6 + 2 * runs, 0.5);
    if (write_set(storage, small_set(folder.path()), kSamples)) break;
    ASSERT_LT(runs, 100);
  }
  EXPECT_GT(runs, 3);
  EXPECT_EQ(folder_bytes(folder.path()), undisturbed());
}

TEST(ShardSetWriter, LeavesAWholeSetAlone) {
  const TestFolder folder;
  ASSERT_TRUE(write_set(test::quick_storage(), small_set(folder.path()), kSamples));
  const auto writer = ShardSetWriter::open(test::quick_storage(), small_set(folder.path()));
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->is_whole());
  EXPECT_EQ(writer->samples(), kSamples);
  EXPECT_EQ(folder_bytes(folder.path()), undisturbed());
}

TEST(ShardSetWriter, RefusesAnotherSetAndASecondWriter) {
  const TestFolder folder;
  ShardSetOptions other = small_set(folder.path());
  other.set_id = 43;
  {
    auto writer = ShardSetWriter::open(test::quick_storage(), small_set(folder.path()));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->append(MadeSample(0).view()));
    const auto second = ShardSetWriter::open(test::quick_storage(), small_set(folder.path()));
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("another process"));
  }
  EXPECT_THAT(ShardSetWriter::open(test::quick_storage(), other).error().message,
              HasSubstr("other files or with other options"));
  ASSERT_TRUE(write_set(test::quick_storage(), small_set(folder.path()), 3));
  EXPECT_THAT(ShardSetWriter::open(test::quick_storage(), other).error().message,
              HasSubstr("other files or with other options"));
}

TEST(ShardSetWriter, RefusesWhatCannotBeStored) {
  const TestFolder folder;
  auto writer = ShardSetWriter::open(test::quick_storage(), small_set(folder.path()));
  MadeSample sample(0);
  sample.name = std::string(5000, 'n');
  EXPECT_EQ(writer->append(sample.view()).error().code, ErrorCode::kInvalidArgument);
  ShardSample odd = MadeSample(0).view();
  odd.head_size = 1'000'000;
  EXPECT_EQ(writer->append(odd).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace unstarve::feed
