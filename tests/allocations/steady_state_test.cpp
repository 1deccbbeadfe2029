// Once every buffer has grown to what the data set asks for, loading threads ask for no memory.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "allocations/counted_allocator.h"
#include "base/testing/test_folder.h"
#include "feed/cache/testing/later_files.h"
#include "feed/pack/pack_job.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"
#include "feed/source/testing/npy_bytes.h"
#include "feed/source/testing/tar_bytes.h"

namespace unstarve::feed {
namespace {

using test::JpegFolder;

constexpr std::uint32_t kWarmUpEpochs = 20;
constexpr std::uint32_t kEpochs = 50;
constexpr std::uint64_t kWarmUpImages = kWarmUpEpochs * std::uint64_t{JpegFolder::kImages};
constexpr std::uint64_t kImages = kEpochs * std::uint64_t{JpegFolder::kImages};
// Now and then a crop needs more room than any before it.
constexpr std::uint64_t kMost = kImages / 100;

/// The threads that come after the loading thread, of which the cache's writer is one, are not
/// counted.
class OneCountedThread final : public ThreadStarter {
 public:
  Result<std::jthread> start(std::function<void(std::stop_token)> body) override {
    if (std::exchange(started_, true)) {
      body = [inner = std::move(body)](const std::stop_token& stop) {
        unstarve::test::ignore_this_thread();
        inner(stop);
      };
    }
    return ThreadStarter::start(std::move(body));
  }

 private:
  bool started_ = false;
};

class SteadyStateTest : public testing::Test {
 protected:
  SteadyStateTest() { unstarve::test::ignore_this_thread(); }

  LoaderOptions options() const {
    LoaderOptions options = folder_.options();
    options.keep_index = false;
    options.threads = 1;  // with several it is chance when each has had the largest sample
    options.prefetch_next_epoch = true;
    return options;
  }
  LoaderOptions options(const std::string& root) const {
    LoaderOptions settings = options();
    settings.root = root;
    return settings;
  }

  /// What the loading thread allocates in kEpochs after the first ones.
  std::uint64_t allocations_of(const LoaderOptions& options, bool touch_files = false) const {
    LoaderParts parts = LoaderParts::real();
    parts.cache_files = std::make_shared<test::LaterFiles>();
    parts.threads = std::make_shared<OneCountedThread>();
    const auto loader = Loader::open(options, parts);
    EXPECT_TRUE(loader) << loader.error().message;
    if (!loader) return kImages;
    std::uint64_t before = 0;
    for (std::uint32_t epoch = 0; epoch < kWarmUpEpochs + kEpochs; ++epoch) {
      // What a writer without a CPU had not kept by then would be read for the first time later.
      if (epoch == 1 && !options.cache_dir.empty()) wait_for_copies(**loader, JpegFolder::kImages);
      if (epoch == kWarmUpEpochs) before = unstarve::test::allocations();
      if (touch_files) touch(epoch);
      EXPECT_FALSE(test::run_epoch(**loader, epoch).error);
      if (touch_files) wait_for_copies(**loader, (epoch + 1) * std::uint64_t{JpegFolder::kImages});
    }
    return unstarve::test::allocations() - before;
  }

  /// Gives each file another time, so that its copy is made anew.
  void touch(std::uint32_t epoch) const {
    const timespec times[2] = {{1000 + epoch, 0}, {1000 + epoch, 0}};
    for (int i = 0; i < JpegFolder::kImages; ++i) {
      ASSERT_EQ(::utimensat(AT_FDCWD, folder_.path_of(i).c_str(), times, 0), 0);
    }
  }
  /// The writer gives buffers back when it has written what was in them.
  static void wait_for_copies(const Loader& loader, std::uint64_t count) {
    const auto done = [&loader] {
      const CacheStats stats = loader.cache_stats();
      return stats.kept + stats.dropped + stats.refused;
    };
    while (done() < count) std::this_thread::yield();
  }
  std::string target(const std::string& name) const { return target_.path() + "/" + name; }

  JpegFolder folder_;
  TestFolder target_;
};

TEST_F(SteadyStateTest, OverAFolder) { EXPECT_LE(allocations_of(options()), kMost); }

TEST_F(SteadyStateTest, OfSubmittedBatches) {
  LoaderParts parts = LoaderParts::real();
  parts.threads = std::make_shared<OneCountedThread>();
  const auto loader = Loader::open(options(), parts);
  ASSERT_TRUE(loader) << loader.error().message;
  ASSERT_TRUE((*loader)->begin_submitted_epoch(0));
  std::uint64_t before = 0;
  constexpr std::uint64_t kPerBatch = 2;
  for (std::uint64_t batch = 0; batch < (kWarmUpImages + kImages) / kPerBatch; ++batch) {
    if (batch == kWarmUpImages / kPerBatch) before = unstarve::test::allocations();
    const std::uint64_t index = batch * kPerBatch % JpegFolder::kImages;
    const std::array<std::uint64_t, kPerBatch> indices = {index, index + 1};
    ASSERT_TRUE((*loader)->submit_batch(indices));
    const Result<NextBatch> next = (*loader)->next(std::chrono::minutes(1));
    ASSERT_TRUE(next && next->state == NextState::kBatch);
  }
  EXPECT_LE(unstarve::test::allocations() - before, kMost);
}

TEST_F(SteadyStateTest, OverATar) {
  test::TarBytes tar;
  for (int i = 0; i < JpegFolder::kImages; ++i) {
    std::ifstream file(folder_.path_of(i), std::ios::binary);
    tar.add(std::to_string(i) + ".jpg", std::string(std::istreambuf_iterator<char>(file), {}));
  }
  std::ofstream(target("images.tar"), std::ios::binary) << tar.end();
  EXPECT_LE(allocations_of(options(target("images.tar"))), kMost);
}

TEST_F(SteadyStateTest, OverAnArray) {
  std::ofstream(target("images.npy"), std::ios::binary)
      << test::npy_bytes("|u1", "(20, 40, 50, 3)", std::string(20 * 40 * 50 * 3, 'x'));
  EXPECT_LE(allocations_of(options(target("images.npy"))), kMost);
}

TEST_F(SteadyStateTest, OverShards) {
  PackOptions settings;
  settings.source = options().root;
  settings.target = target("shards");
  Result<PackJob> job = PackJob::open(settings);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_TRUE(job->run([](const PackProgress&) {}));
  EXPECT_LE(allocations_of(options(settings.target)), kMost);
}

TEST_F(SteadyStateTest, FromACacheThatIsFull) {
  LoaderOptions cached = options();
  cached.cache_dir = target("cache");
  EXPECT_LE(allocations_of(cached), kMost);
}

TEST_F(SteadyStateTest, WhileACacheIsFilledAndTheDiskKeepsUp) {
  LoaderOptions cached = options();
  cached.cache_dir = target("cache");
  cached.prefetch_next_epoch = false;  // files change between epochs
  const auto ahead = static_cast<std::uint64_t>(cached.prefetch_batches);
  EXPECT_LE(allocations_of(cached, true), kEpochs * 2 * ahead + kImages / 5);
}

TEST_F(SteadyStateTest, AnEpochBeginsWithWhatItsBatchesAheadNeed) {
  LoaderOptions settings = options();
  settings.prefetch_next_epoch = false;
  const auto ahead = static_cast<std::uint64_t>(settings.prefetch_batches);
  EXPECT_LE(allocations_of(settings), kEpochs * 2 * ahead + kMost);
}

}  // namespace
}  // namespace unstarve::feed
