#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "feed/workers/slot_reader.h"
#include "feed/workers/slot_writer.h"

namespace unstarve::feed {
namespace {

constexpr std::size_t kMegabyte = 1024UL * 1024;

/// Both ends in one process: nothing in them knows where the other one runs.
class SlotsTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<FileDescriptor> memory = create_slot_memory();
    ASSERT_TRUE(memory) << memory.error().message;
    fd_ = memory->get();
    FileDescriptor second(::dup(memory->get()));
    Result<std::shared_ptr<SlotReader>> reader = SlotReader::open(std::move(*memory));
    Result<std::shared_ptr<SlotWriter>> writer = SlotWriter::open(std::move(second));
    ASSERT_TRUE(reader && writer);
    reader_ = std::move(*reader);
    writer_ = std::move(*writer);
  }

  /// Fills a slot with one value and returns its index.
  std::uint32_t send(std::size_t bytes, int value) {
    Result<WritableSlot> slot = writer_->acquire(bytes);
    EXPECT_TRUE(slot) << slot.error().message;
    EXPECT_GE(slot->bytes().size(), bytes);
    std::memset(slot->bytes().data(), value, bytes);
    return slot->index();
  }

  HeldSlot take(std::uint32_t index) {
    Result<HeldSlot> slot = reader_->take(index);
    EXPECT_TRUE(slot) << slot.error().message;
    return std::move(*slot);
  }

  int fd_ = -1;
  std::shared_ptr<SlotReader> reader_;
  std::shared_ptr<SlotWriter> writer_;
};

bool all_are(std::span<const std::byte> bytes, int value) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [value](std::byte byte) { return std::to_integer<int>(byte) == value; });
}

/// A forked process that waits for end(), then says whether `check` holds.
class Child {
 public:
  template <class Check>
  explicit Child(Check check) {
    std::array<int, 2> go = {};
    EXPECT_EQ(::pipe(go.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      char byte = 0;
      ::_exit(::read(go[0], &byte, 1) == 1 && check() ? 0 : 1);
    }
    ::close(go[0]);
    go_.reset(go[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) (void)end();
  }

  bool end() {
    int status = -1;
    const bool written = ::write(go_.get(), "", 1) == 1;
    return written && ::waitpid(std::exchange(pid_, 0), &status, 0) > 0 && status == 0;
  }

 private:
  pid_t pid_ = 0;
  FileDescriptor go_;
};

TEST_F(SlotsTest, BytesReachTheReader) {
  const HeldSlot slot = take(send(kMegabyte, 7));
  EXPECT_TRUE(all_are(slot.bytes().first(kMegabyte), 7));
}

TEST_F(SlotsTest, SteadyStateAllocatesNothing) {
  for (int batch = 0; batch < 100; ++batch) {
    const HeldSlot first = take(send(kMegabyte, batch));
    const HeldSlot second = take(send(kMegabyte - 100, batch));
    EXPECT_TRUE(all_are(first.bytes().first(kMegabyte), batch));
  }
  EXPECT_EQ(writer_->allocations(), 2U);
}

TEST_F(SlotsTest, HeldSlotsAreNotFilledAgain) {
  std::vector<HeldSlot> kept;
  for (int batch = 0; batch < 20; ++batch) kept.push_back(take(send(5000, batch)));
  EXPECT_EQ(reader_->held_slots(), 20U);
  EXPECT_GE(reader_->held_bytes(), 20U * 5000U);
  for (int batch = 0; batch < 20; ++batch) {
    EXPECT_TRUE(all_are(kept[static_cast<std::size_t>(batch)].bytes().first(5000), batch));
  }
  kept.clear();
  EXPECT_EQ(reader_->held_bytes(), 0U);
}

TEST_F(SlotsTest, SlotsTheWorkerStillUsesAreNotFilledAgain) {
  Result<WritableSlot> kept = writer_->acquire(100);
  ASSERT_TRUE(kept);
  std::memset(kept->bytes().data(), 1, 100);
  { const HeldSlot taken = take(kept->index()); }
  EXPECT_NE(send(100, 2), kept->index());
  EXPECT_TRUE(all_are(kept->bytes().first(100), 1));
}

TEST_F(SlotsTest, GrowsWithTheBatches) {
  for (std::size_t bytes = 1000; bytes < 64 * kMegabyte; bytes *= 3) {
    const HeldSlot slot = take(send(bytes, 3));
    EXPECT_TRUE(all_are(slot.bytes().first(bytes), 3));
  }
  // Each slot took the place of the one that had become too small.
  EXPECT_LT(send(64 * kMegabyte, 1), 3U);
}

TEST_F(SlotsTest, ASmallBatchTakesNoHugeSlot) {
  { const HeldSlot huge = take(send(64 * kMegabyte, 1)); }
  const HeldSlot small = take(send(100, 2));
  EXPECT_LT(small.bytes().size(), 2 * kMegabyte);
}

TEST_F(SlotsTest, LargeAndSmallBatchesInTurnAllocateNothing) {
  for (int batch = 0; batch < 20; ++batch) {
    const HeldSlot slot = take(send(batch % 2 == 0 ? 100 : 64 * kMegabyte, batch));
  }
  // The second takes the place of the first, which it finds free and too small.
  EXPECT_EQ(writer_->allocations(), 3U);
}

TEST_F(SlotsTest, EmptyBatchesHaveSlots) {
  const HeldSlot slot = take(send(0, 0));
  EXPECT_GT(slot.bytes().size(), 0U);
}

TEST_F(SlotsTest, AbandonedSlotsAreFree) {
  Result<WritableSlot> slot = writer_->acquire(100);
  ASSERT_TRUE(slot);
  const std::uint32_t index = slot->index();
  writer_->abandon(index);
  { const WritableSlot gone = std::move(*slot); }
  EXPECT_EQ(send(100, 1), index);
}

TEST_F(SlotsTest, RefusesWhatTheWorkerHasNotSent) {
  EXPECT_FALSE(reader_->take(0));
  EXPECT_FALSE(reader_->take(kSlotsMax));
  const std::uint32_t index = send(100, 1);
  const HeldSlot slot = take(index);
  EXPECT_FALSE(reader_->take(index));
}

TEST_F(SlotsTest, RefusesATableThatPointsOutside) {
  Result<SlotMapping> mapping = SlotMapping::map(fd_, 0, kSlotTableBytes);
  ASSERT_TRUE(mapping);
  const std::uint32_t index = send(100, 1);
  SlotEntry& entry = slot_table(*mapping)[index];
  const std::uint64_t offset = entry.offset.load();
  for (const std::uint64_t bad : {std::uint64_t{0}, offset + 1, offset + (1UL << 40U), ~0UL}) {
    entry.offset.store(bad);
    EXPECT_FALSE(reader_->take(index)) << bad;
  }
  entry.offset.store(offset);
  const std::uint64_t capacity = entry.capacity.exchange(~0UL);
  EXPECT_FALSE(reader_->take(index));
  entry.capacity.store(capacity);
  EXPECT_TRUE(reader_->take(index));
}

TEST_F(SlotsTest, AbsurdSizesAreErrors) {
  EXPECT_FALSE(writer_->acquire(~std::size_t{0}));
  EXPECT_FALSE(writer_->acquire(std::size_t{1} << 45U));  // refused, not tried
  EXPECT_TRUE(writer_->acquire(100));                     // and it goes on
}

TEST_F(SlotsTest, TooManySlotsIsAnError) {
  std::set<std::uint32_t> indices;
  for (std::uint32_t slot = 0; slot < kSlotsMax; ++slot) indices.insert(send(1, 0));
  EXPECT_EQ(indices.size(), kSlotsMax);
  EXPECT_FALSE(writer_->acquire(1));
}

TEST_F(SlotsTest, AForkedChildKeepsWhatItSees) {
  std::vector<HeldSlot> held;
  held.push_back(take(send(5000, 1)));
  int go[2] = {};
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(go[1]);
    char byte = 0;
    const bool parent_is_done = ::read(go[0], &byte, 1) == 0;
    const bool same = all_are(held[0].bytes().first(5000), 1);
    held.clear();  // must neither free the parent's slot nor hang
    ::_exit(parent_is_done && same ? 0 : 1);
  }
  ::close(go[0]);
  held.clear();
  for (int batch = 2; batch < 10; ++batch) held.push_back(take(send(5000, batch)));
  held.clear();
  reader_.reset();  // gives the memory back, but not what the child looks at
  ::close(go[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SlotsTest, AForkCostsNoSlotOnceTheChildHasEnded) {
  constexpr int kBatches = 20;
  for (int batch = 0; batch < kBatches; ++batch) {
    const HeldSlot slot = take(send(kMegabyte, batch));
    EXPECT_TRUE(Child([] { return true; }).end());
  }
  EXPECT_EQ(writer_->allocations(), 1U);
}

TEST_F(SlotsTest, AChildThatLivesOnKeepsOnlyWhatItWasForkedWith) {
  std::optional<Child> child;
  {
    const HeldSlot slot = take(send(5000, 1));
    child.emplace([&slot] { return all_are(slot.bytes().first(5000), 1); });
  }
  for (int batch = 2; batch < 10; ++batch) {
    const HeldSlot slot = take(send(5000, batch));
    EXPECT_TRUE(Child([] { return true; }).end());
  }
  EXPECT_EQ(writer_->allocations(), 2U);
  EXPECT_TRUE(child->end());
  const HeldSlot first = take(send(5000, 10));
  const HeldSlot second = take(send(5000, 11));
  EXPECT_EQ(writer_->allocations(), 2U) << "its slot is filled again now that it has ended";
}

TEST_F(SlotsTest, AGrandchildKeepsWhatItSees) {
  int go[2] = {};
  ASSERT_EQ(::pipe(go), 0);
  {
    const HeldSlot slot = take(send(5000, 1));
    Child child([&go] {
      char byte = 0;
      if (::fork() == 0) ::_exit(::read(go[0], &byte, 1) == 1 ? 0 : 1);
      return true;
    });
    EXPECT_TRUE(child.end());
  }
  const HeldSlot next = take(send(5000, 2));
  EXPECT_EQ(writer_->allocations(), 2U);
  EXPECT_EQ(::write(go[1], "", 1), 1);
  ::close(go[0]);
  ::close(go[1]);
}

TEST_F(SlotsTest, MoreLivingChildrenThanCanBeAskedAboutKeepTheirSlots) {
  std::vector<std::unique_ptr<Child>> children;
  for (int batch = 0; batch < 70; ++batch) {
    const HeldSlot slot = take(send(100, batch));
    children.push_back(std::make_unique<Child>(
        [&slot, batch] { return all_are(slot.bytes().first(100), batch); }));
  }
  EXPECT_EQ(writer_->allocations(), 70U);
  for (const std::unique_ptr<Child>& child : children) EXPECT_TRUE(child->end());
}

TEST_F(SlotsTest, SlotsOutliveBothEnds) {
  const HeldSlot slot = take(send(5000, 9));
  Result<WritableSlot> written = writer_->acquire(100);
  reader_.reset();
  writer_.reset();
  EXPECT_TRUE(all_are(slot.bytes().first(5000), 9));
  std::memset(written->bytes().data(), 1, 100);
}

}  // namespace
}  // namespace unstarve::feed
