#include "feed/pipeline/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

using test::EpochResult;
using test::hash_of;
using test::run_epoch;
constexpr int kLoadedImages = test::JpegFolder::kImages;

class LoaderTest : public testing::Test {
 protected:
  LoaderOptions options() const { return folder_.options(); }
  void truncate(int i) const { folder_.truncate(i); }

  test::JpegFolder folder_;
};

TEST_F(LoaderTest, AnyThreadCountGivesTheSameBatches) {
  std::map<std::uint32_t, std::uint64_t> expected;
  for (int threads = 1; threads <= 16; ++threads) {
    LoaderOptions settings = options();
    settings.threads = threads;
    settings.prefetch_batches = 1 + threads % 3;
    auto loader = Loader::open(settings);
    ASSERT_TRUE(loader) << loader.error().message;
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      const EpochResult result = run_epoch(**loader, epoch);
      ASSERT_FALSE(result.error) << result.error->message;
      EXPECT_THAT(result.counts, testing::ElementsAre(4, 4, 4, 4, 4, 2));
      expected.try_emplace(epoch, result.hash);
      EXPECT_EQ(result.hash, expected[epoch]) << threads << " threads, epoch " << epoch;
    }
  }
  EXPECT_NE(expected[0], expected[1]);
  EXPECT_NE(expected[1], expected[2]);
}

TEST_F(LoaderTest, TheSeedChangesTheData) {
  std::set<std::uint64_t> hashes;
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    LoaderOptions settings = options();
    settings.seed = seed;
    hashes.insert(run_epoch(**Loader::open(settings), 0).hash);
  }
  EXPECT_EQ(hashes.size(), 3U);
}

TEST_F(LoaderTest, LabelsAreTheSortedSubFolders) {
  LoaderOptions settings = options();
  settings.shuffle = false;
  settings.batch_size = kLoadedImages;
  auto loader = *Loader::open(settings);
  EXPECT_THAT(loader->classes(), testing::ElementsAre("ants", "bees"));
  ASSERT_TRUE(loader->begin_epoch(0));
  const auto next = loader->next(60s);
  ASSERT_TRUE(next && next->batch);
  for (int i = 0; i < kLoadedImages; ++i)
    EXPECT_EQ(next->batch->labels()[i], i < kLoadedImages / 2 ? 0 : 1);
}

TEST_F(LoaderTest, DropLastLeavesOutThePartBatch) {
  LoaderOptions settings = options();
  settings.drop_last = true;
  auto loader = *Loader::open(settings);
  EXPECT_EQ(loader->batch_count(), 5U);
  EXPECT_THAT(run_epoch(*loader, 0).counts, testing::ElementsAre(4, 4, 4, 4, 4));
}

TEST_F(LoaderTest, EvaluationGivesTheSameInEveryEpoch) {
  LoaderOptions settings = options();
  settings.transform = evaluation_crop(32, 40);
  settings.shuffle = false;
  auto loader = *Loader::open(settings);
  EXPECT_EQ(run_epoch(*loader, 0).hash, run_epoch(*loader, 1).hash);
}

TEST_F(LoaderTest, ABrokenFileIsAnErrorThatNamesIt) {
  truncate(9);
  LoaderOptions settings = options();
  settings.shuffle = false;
  auto loader = *Loader::open(settings);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const EpochResult result = run_epoch(*loader, 0);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->code, ErrorCode::kCorruptData);
    EXPECT_THAT(result.error->message, HasSubstr("ants/109.jpg"));
    EXPECT_THAT(result.counts, testing::ElementsAre(4, 4)) << "the batches before it come out";
  }
}

TEST_F(LoaderTest, SkipLeavesBrokenFilesOut) {
  truncate(1);
  truncate(2);
  for (int i = 4; i < 8; ++i) truncate(i);  // a whole batch
  LoaderOptions settings = options();
  settings.shuffle = false;
  settings.on_error = OnError::kSkip;
  std::set<std::uint64_t> hashes;
  for (const int threads : {1, 3}) {
    settings.threads = threads;
    auto loader = *Loader::open(settings);
    const EpochResult result = run_epoch(*loader, 0);
    ASSERT_FALSE(result.error);
    EXPECT_THAT(result.counts, testing::ElementsAre(2, 4, 4, 4, 2));
    EXPECT_EQ(loader->stats().failed, 6U);
    EXPECT_EQ(loader->stats().left_out, 6U);
    EXPECT_EQ(loader->failures().size(), 6U);
    hashes.insert(result.hash);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST_F(LoaderTest, ReplaceFillsTheirPlacesDeterministically) {
  for (int i = 0; i < 8; ++i) truncate(i);
  LoaderOptions settings = options();
  settings.on_error = OnError::kReplace;
  std::set<std::uint64_t> hashes;
  for (const int threads : {1, 2, 5}) {
    settings.threads = threads;
    auto loader = *Loader::open(settings);
    const EpochResult result = run_epoch(*loader, 0);
    ASSERT_FALSE(result.error);
    EXPECT_THAT(result.counts, testing::ElementsAre(4, 4, 4, 4, 4, 2));
    EXPECT_EQ(loader->stats().replaced, 8U);
    EXPECT_GE(loader->stats().failed, 8U);
    hashes.insert(result.hash);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST_F(LoaderTest, ReplaceFindsTheOnlySoundSample) {
  for (int i = 0; i < kLoadedImages; ++i) {
    if (i != 17) truncate(i);
  }
  LoaderOptions settings = options();
  settings.on_error = OnError::kReplace;
  std::set<std::uint64_t> hashes;
  for (const int threads : {1, 4}) {
    settings.threads = threads;
    const EpochResult result = run_epoch(**Loader::open(settings), 0);
    ASSERT_FALSE(result.error) << result.error->message;
    EXPECT_THAT(result.counts, testing::ElementsAre(4, 4, 4, 4, 4, 2));
    hashes.insert(result.hash);
  }
  EXPECT_EQ(hashes.size(), 1U);
}

TEST_F(LoaderTest, ReplaceGivesUpWhenNothingIsSound) {
  for (int i = 0; i < kLoadedImages; ++i) truncate(i);
  LoaderOptions settings = options();
  settings.on_error = OnError::kReplace;
  const EpochResult result = run_epoch(**Loader::open(settings), 0);
  ASSERT_TRUE(result.error);
  EXPECT_TRUE(result.counts.empty());
}

TEST_F(LoaderTest, MayBeLeftInTheMiddle) {
  auto loader = *Loader::open(options());
  const std::uint64_t whole = run_epoch(*loader, 5).hash;
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    ASSERT_TRUE(loader->begin_epoch(epoch));
    for (std::uint32_t i = 0; i < epoch; ++i) ASSERT_TRUE(loader->next(60s));
  }
  EXPECT_EQ(run_epoch(*loader, 5).hash, whole);
  ASSERT_TRUE(loader->begin_epoch(6));
  loader.reset();  // while the threads are at work
}

TEST_F(LoaderTest, BatchesOutliveTheLoader) {
  auto loader = *Loader::open(options());
  ASSERT_TRUE(loader->begin_epoch(0));
  std::vector<HostBatch> kept;
  for (;;) {
    Result<NextBatch> next = loader->next(60s);
    ASSERT_TRUE(next);
    if (next->state == NextState::kEnd) break;
    kept.push_back(std::move(*next->batch));
  }
  std::vector<std::uint64_t> hashes;
  for (const HostBatch& batch : kept) hashes.push_back(hash_of(batch, 1));
  run_epoch(*loader, 1);  // must not write into what is kept
  loader.reset();
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(hash_of(kept[i], 1), hashes[i]);
}

TEST_F(LoaderTest, AllocatesNoSlotsInTheSteadyState) {
  constexpr std::uint64_t kMostSlots = 6;
  auto loader = *Loader::open(options());
  run_epoch(*loader, 0);
  const std::uint64_t after_one = loader->stats().slots_allocated;
  EXPECT_LE(after_one, kMostSlots);
  for (std::uint32_t epoch = 1; epoch < 6; ++epoch) run_epoch(*loader, epoch);
  EXPECT_LE(loader->stats().slots_allocated, kMostSlots);
}

TEST_F(LoaderTest, CountsWhatItDid) {
  auto loader = *Loader::open(options());
  run_epoch(*loader, 0);
  const LoaderStats stats = loader->stats();
  EXPECT_EQ(stats.images, std::uint64_t(kLoadedImages));
  EXPECT_EQ(stats.batches, 6U);
  EXPECT_GT(stats.bytes_read, 0U);
  EXPECT_GT(stats.read_ns, 0);
  EXPECT_GT(stats.decode_ns, 0);
  EXPECT_GT(stats.resize_ns, 0);
}

TEST_F(LoaderTest, AForkedChildGetsAnErrorInsteadOfAHang) {
  auto loader = *Loader::open(options());
  ASSERT_TRUE(loader->begin_epoch(0));
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<NextBatch> next = loader->next(60s);
    const bool clear =
        !next && next.error().code == ErrorCode::kNotSupported && !loader->begin_epoch(1);
    loader.reset();
    ::_exit(clear ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(run_epoch(*loader, 0).error) << "the parent goes on";
}

TEST_F(LoaderTest, RefusesOptionsThatMakeNoSense) {
  const auto message = [&](auto change) {
    LoaderOptions settings = options();
    change(settings);
    const auto loader = Loader::open(settings);
    return loader ? std::string("accepted") : loader.error().message;
  };
  EXPECT_THAT(message([](auto& o) { o.batch_size = 0; }), HasSubstr("batch_size"));
  EXPECT_THAT(message([](auto& o) { o.transform.geometry.size.width = -1; }), HasSubstr("size"));
  EXPECT_THAT(message([](auto& o) { o.transform.geometry.scale_min = 2; }), HasSubstr("scale"));
  EXPECT_THAT(message([](auto& o) { o.transform.geometry.ratio_max = 0; }), HasSubstr("ratio"));
  EXPECT_THAT(message([](auto& o) { o.transform.geometry.horizontal_flip_probability = 1.5; }),
              HasSubstr("flip_probability"));
  EXPECT_THAT(message([](auto& o) { o.prefetch_batches = -1; }), HasSubstr("prefetch"));
  EXPECT_THAT(message([](auto& o) { o.root = "/no/such/folder"; }), HasSubstr("/no/such/folder"));
  EXPECT_THAT(message([](auto& o) { o.transform = evaluation_crop(32, 0); }),
              HasSubstr("resize_short"));
}

}  // namespace
}  // namespace unstarve::feed
