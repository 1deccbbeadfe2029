#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "base/mutex.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSlowNs = 2'000'000;

/// Reads take what they are told on a clock turned by hand; hints are written down.
class HintedFiles final : public io::Files {
 public:
  explicit HintedFiles(ManualClock& clock) : clock_(clock) {}
  Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode) override {
    clock_.advance_ns(open_ns);
    Result<FileDescriptor> file = Files::open(path, flags, mode);
    MutexLock lock(mutex_);
    if (file) paths_[file->get()] = path;
    return file;
  }
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    clock_.advance_ns(read_ns);
    return Files::read_at(file, offset, target);
  }
  bool fetch_ahead(int file, std::uint64_t, std::uint64_t) override {
    MutexLock lock(mutex_);
    hints_.push_back(paths_[file]);
    if (answer == ReadHint::kNone) throw std::bad_alloc();  // of no use to whoever asked
    return answer == ReadHint::kInMemory;
  }
  std::vector<std::string> take_hints() {
    MutexLock lock(mutex_);
    return std::exchange(hints_, {});
  }
  std::atomic<std::int64_t> open_ns{0};
  std::atomic<std::int64_t> read_ns{kSlowNs};
  std::atomic<ReadHint> answer{ReadHint::kFetching};

 private:
  ManualClock& clock_;
  Mutex mutex_;
  std::map<int, std::string> paths_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<std::string> hints_ UNSTARVE_GUARDED_BY(mutex_);
};

/// One thread and no shuffle, so that ticket i is image i: it announces image i + 16.
class LoaderReadAhead : public testing::Test {
 protected:
  LoaderReadAhead() {
    parts_.clock = clock_;
    parts_.files = files_;
    LoaderOptions options = folder_.options();
    options.shuffle = false;
    options.threads = 1;
    loader_ = Loader::open(options, parts_).value();
  }

  std::vector<std::string> hints_of_next_epoch() {
    const test::EpochResult result = test::run_epoch(*loader_, epoch_++);
    EXPECT_FALSE(result.error) << result.error->message;
    return files_->take_hints();
  }
  std::string path(int i) const { return folder_.path_of(i).string(); }

  test::JpegFolder folder_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1);
  std::shared_ptr<HintedFiles> files_ = std::make_shared<HintedFiles>(*clock_);
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
  files_->read_ns = 20'000;
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
  files_->read_ns = 20'000;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(hints_of_next_epoch().size(), 6U);
}

TEST_F(LoaderReadAhead, HintsEndWhenAllLiesInMemory) {
  EXPECT_EQ(hints_of_next_epoch().size(), 2U);
  files_->read_ns = 20'000;
  files_->answer = ReadHint::kInMemory;
  for (int i = 0; i < 20; ++i) hints_of_next_epoch();
  EXPECT_EQ(loader_->stats().hints, 2U + 64U);
  files_->read_ns = kSlowNs;
  hints_of_next_epoch();
  EXPECT_GT(hints_of_next_epoch().size(), 0U) << "they begin again";
}

TEST_F(LoaderReadAhead, HintsEndWhereOpeningIsWhatTakesLong) {
  files_->open_ns = 10 * kSlowNs;  // a hint would wait for it as well
  for (int i = 0; i < 5; ++i) hints_of_next_epoch();
  EXPECT_EQ(loader_->stats().hints, 4U);
}

TEST_F(LoaderReadAhead, HintsGoOnWhereOpeningIsTheLesserPart) {
  files_->open_ns = kSlowNs / 4;
  for (int i = 0; i < 5; ++i) hints_of_next_epoch();
  EXPECT_EQ(loader_->stats().hints, 2U + 4 * 6U);
}

TEST_F(LoaderReadAhead, ASourceWithoutHintsIsAskedOnce) {
  files_->answer = ReadHint::kNone;
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
  const std::vector<std::string> hints = files_->take_hints();
  EXPECT_THAT(hints, Each(testing::AnyOf(path(20), path(21))));
  EXPECT_LE(hints.size(), 2U);
}

TEST(ReadHint, AFileInMemoryIsNotFetchedAgain) {
  const test::JpegFolder folder;
  io::Files files;
  std::vector<std::byte> buffer;
  ASSERT_TRUE(read_file(files, folder.path_of(0).string(), 1 << 20, buffer));
  const ReadHint hint = hint_file(files, folder.path_of(0).string());
  EXPECT_NE(hint, ReadHint::kNone);
  EXPECT_EQ(hint_file(files, "/nowhere/at/all.jpg"), ReadHint::kFetching);
}

}  // namespace
}  // namespace unstarve::feed
