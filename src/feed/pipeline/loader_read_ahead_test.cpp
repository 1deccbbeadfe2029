#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"

namespace unstarve::feed {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSlowNs = 2'000'000;

/// Reads take what they are told on a clock turned by hand; hints are written down.
class HintedReader final : public FileReader {
 public:
  explicit HintedReader(ManualClock& clock) : clock_(clock) {}
  Result<std::span<const std::byte>> read(const std::string& path, std::int64_t max_bytes,
                                          std::vector<std::byte>& buffer) override {
    clock_.advance_ns(read_ns);
    return plain_.read(path, max_bytes, buffer);
  }
  ReadHint hint(const std::string& path) override {
    MutexLock lock(mutex_);
    hints_.push_back(path);
    return answer;
  }
  std::vector<std::string> take_hints() {
    MutexLock lock(mutex_);
    return std::exchange(hints_, {});
  }
  std::atomic<std::int64_t> read_ns{kSlowNs};
  std::atomic<ReadHint> answer{ReadHint::kFetching};

 private:
  ManualClock& clock_;
  PlainFileReader plain_;
  Mutex mutex_;
  std::vector<std::string> hints_ UNSTARVE_GUARDED_BY(mutex_);
};

/// One thread and no shuffle, so that ticket i is image i: it announces image i + 16.
class LoaderReadAhead : public testing::Test {
 protected:
  LoaderReadAhead() {
    parts_.clock = clock_;
    parts_.reader = reader_;
    LoaderOptions options = folder_.options();
    options.shuffle = false;
    options.threads = 1;
    loader_ = Loader::open(options, parts_).value();
  }

  std::vector<std::string> hints_of_next_epoch() {
    const test::EpochResult result = test::run_epoch(*loader_, epoch_++);
    EXPECT_FALSE(result.error) << result.error->message;
    return reader_->take_hints();
  }
  std::string path(int i) const { return folder_.path_of(i).string(); }

  test::JpegFolder folder_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1);
  std::shared_ptr<HintedReader> reader_ = std::make_shared<HintedReader>(*clock_);
  LoaderParts parts_ = LoaderParts::real();
  std::unique_ptr<Loader> loader_;
  std::uint32_t epoch_ = 0;
};

TEST_F(LoaderReadAhead, SlowReadsAreAnnouncedOnceEachAndInOrder) {
  // Four slow reads come first; 22 images are all there are.
  EXPECT_THAT(hints_of_next_epoch(), ElementsAre(path(20), path(21)));
  EXPECT_THAT(hints_of_next_epoch(),
              ElementsAre(path(16), path(17), path(18), path(19), path(20), path(21)));
  EXPECT_EQ(loader_->stats().hints, 8U);
}

TEST_F(LoaderReadAhead, FastReadsAreNotAnnounced) {
  reader_->read_ns = 20'000;
  EXPECT_THAT(hints_of_next_epoch(), IsEmpty());
  EXPECT_EQ(loader_->stats().hints, 0U);
}

TEST_F(LoaderReadAhead, NothingIsAnnouncedIfNotWanted) {
  LoaderOptions options = loader_->options();
  options.read_ahead = false;
  loader_ = Loader::open(options, parts_).value();
  EXPECT_THAT(hints_of_next_epoch(), IsEmpty());
}

TEST_F(LoaderReadAhead, HintsGoOnWhileTheyMakeReadsFast) {
  EXPECT_EQ(hints_of_next_epoch().size(), 2U);
  reader_->read_ns = 20'000;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(hints_of_next_epoch().size(), 6U);
}

TEST_F(LoaderReadAhead, HintsEndWhenAllLiesInMemory) {
  EXPECT_EQ(hints_of_next_epoch().size(), 2U);
  reader_->read_ns = 20'000;
  reader_->answer = ReadHint::kInMemory;
  for (int i = 0; i < 20; ++i) hints_of_next_epoch();
  EXPECT_EQ(loader_->stats().hints, 2U + 64U);
  reader_->read_ns = kSlowNs;
  hints_of_next_epoch();
  EXPECT_GT(hints_of_next_epoch().size(), 0U) << "they begin again";
}

TEST_F(LoaderReadAhead, ASourceWithoutHintsIsAskedOnce) {
  reader_->answer = ReadHint::kNone;
  EXPECT_EQ(hints_of_next_epoch().size(), 1U);
  EXPECT_THAT(hints_of_next_epoch(), IsEmpty());
  EXPECT_EQ(loader_->stats().hints, 0U);
}

TEST_F(LoaderReadAhead, SubmittedSamplesAreAnnouncedAsFarAsTheyAreKnown) {
  ASSERT_TRUE(loader_->begin_submitted_epoch(0));
  const std::vector<std::uint64_t> first = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                            10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const std::vector<std::uint64_t> second = {21, 20};
  for (const auto* batch : {&first, &second}) ASSERT_TRUE(loader_->submit_batch(*batch));
  ASSERT_TRUE(loader_->finish_submitting());
  for (;;) {
    const Result<NextBatch> next = loader_->next(std::chrono::minutes(1));
    ASSERT_TRUE(next) << next.error().message;
    if (next->state == NextState::kEnd) break;
  }
  // The thread may have begun before the second batch was submitted, not before the first.
  const std::vector<std::string> hints = reader_->take_hints();
  EXPECT_THAT(hints, Each(testing::AnyOf(path(20), path(21))));
  EXPECT_LE(hints.size(), 2U);
}

TEST(ReadHint, AFileInMemoryIsNotFetchedAgain) {
  const test::JpegFolder folder;
  PlainFileReader reader;
  std::vector<std::byte> buffer;
  ASSERT_TRUE(reader.read(folder.path_of(0).string(), 1 << 20, buffer));
  const ReadHint hint = reader.hint(folder.path_of(0).string());
  EXPECT_NE(hint, ReadHint::kNone);
  EXPECT_EQ(reader.hint("/nowhere/at/all.jpg"), ReadHint::kFetching);
}

}  // namespace
}  // namespace unstarve::feed
