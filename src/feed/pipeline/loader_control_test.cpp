#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/io/files.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNsPerMs = 1'000'000;

/// Each file takes as long as it is told, on a clock that is turned by hand.
class TimedFiles final : public io::Files {
 public:
  explicit TimedFiles(ManualClock& clock) : clock_(clock) {}
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    ++begun;
    clock_.advance_ns(read_ns);
    return Files::read_at(file, offset, target);
  }
  std::atomic<std::int64_t> read_ns{kNsPerMs / 10};
  std::atomic<std::uint64_t> begun{0};

 private:
  ManualClock& clock_;
};

class LoaderControl : public testing::Test {
 protected:
  LoaderControl() {
    parts_.clock = clock_;
    parts_.files = files_;
    parts_.cpus = [this] { return cpus_.load(); };
  }

  /// Batches of four, with `busy_ns` of training after each.
  std::uint64_t train(Loader& loader, int batches, std::int64_t busy_ns) {
    std::uint64_t hash = 0;
    while (batches > 0) {
      if (epoch_over_) {
        EXPECT_TRUE(loader.begin_epoch(epoch_++));
      }
      const Result<NextBatch> next = loader.next(60s);
      EXPECT_TRUE(next) << next.error().message;
      epoch_over_ = next && next->state == NextState::kEnd;
      if (!next || next->state != NextState::kBatch) continue;
      hash = test::hash_of(*next->batch, hash);
      if (busy_ns > files_->read_ns) wait_until_nothing_loads(loader);
      wait_for_the_controller(loader);
      clock_->advance_ns(busy_ns);
      --batches;
    }
    return hash;
  }

  /// The clock is everybody's: turned while a sample is decoded, training would count as loading.
  /// Only for a consumer slower than the reader; a fast one waits in next().
  void wait_until_nothing_loads(const Loader& loader) {
    while (loader.stats().images < files_->begun) std::this_thread::yield();
  }

  /// It has a thread of its own, and the clock stands still for nobody.
  static void wait_for_the_controller(const Loader& loader) {
    while (loader.stats().control_is_due) std::this_thread::yield();
  }

  test::JpegFolder folder_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1);
  std::shared_ptr<TimedFiles> files_ = std::make_shared<TimedFiles>(*clock_);
  std::atomic<int> cpus_{4};
  LoaderParts parts_ = LoaderParts::real();
  std::uint32_t epoch_ = 0;
  bool epoch_over_ = true;
};

TEST_F(LoaderControl, ThreadsFollowTheConsumer) {
  LoaderOptions options = folder_.options();
  options.threads = 0;
  auto loader = *Loader::open(options, parts_);
  EXPECT_EQ(loader->thread_count(), 4);
  train(*loader, 60, 200 * kNsPerMs);
  EXPECT_EQ(loader->thread_count(), 1) << "20 images/s";
  ASSERT_GE(loader->explain().size(), 2U);
  EXPECT_THAT(loader->explain()[0].reason, testing::HasSubstr("4 CPUs"));
  EXPECT_THAT(loader->explain()[1].reason, testing::HasSubstr("images/s"));

  files_->read_ns = 20 * kNsPerMs;
  train(*loader, 120, kNsPerMs);
  // On one clock for all, several threads read no faster than one: it may have been given up again.
  const std::vector<ControlMove> moves = loader->explain();
  EXPECT_TRUE(std::any_of(moves.begin(), moves.end(), [](const ControlMove& move) {
    return move.what == ControlMove::What::kThreads && move.from == 1 && move.to > 1;
  })) << "4,000 images/s";
}

TEST_F(LoaderControl, MovesNeverChangeTheData) {
  LoaderOptions options = folder_.options();
  auto fixed = *Loader::open(options);
  const std::uint64_t expected = train(*fixed, 100, 0);
  epoch_ = 0;
  epoch_over_ = true;
  options.threads = 0;
  options.prefetch_batches = 0;
  options.prefetch_next_epoch = true;
  auto loader = *Loader::open(options, parts_);
  EXPECT_EQ(train(*loader, 100, 150 * kNsPerMs), expected);
  EXPECT_EQ(loader->thread_count(), 1);
}

TEST_F(LoaderControl, TheNumberOfCpusIsAskedNowAndThen) {
  LoaderOptions options = folder_.options();
  options.threads = 0;
  auto loader = *Loader::open(options, parts_);
  files_->read_ns = 20 * kNsPerMs;
  train(*loader, 10, kNsPerMs);
  cpus_ = 2;
  train(*loader, 200, kNsPerMs);
  EXPECT_LE(loader->thread_count(), 2);
  options.max_threads = 3;
  EXPECT_EQ((*Loader::open(options, parts_))->thread_count(), 3) << "said by the user";
}

TEST_F(LoaderControl, ThreadsThatArePutAsideKeepNoBatchesOfAnEpochThatWasLeft) {
  LoaderOptions options = folder_.options();
  options.threads = 0;
  auto loader = *Loader::open(options, parts_);
  const std::vector<std::uint64_t> indices = {3, 1, 4, 2};
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    ASSERT_TRUE(loader->begin_submitted_epoch(epoch));
    epoch_over_ = false;
    for (int batch = 0; batch < 60; ++batch) {
      ASSERT_TRUE(loader->submit_batch(indices));
      if (batch < options.prefetch_batches) continue;
      train(*loader, 1, 0);
      // What was submitted may be begun at any moment, until all of it lies ready.
      while (loader->stats().ready_batches < options.prefetch_batches) std::this_thread::yield();
      clock_->advance_ns(200 * kNsPerMs);
    }
    EXPECT_EQ(loader->thread_count(), 1);
  }
  EXPECT_LE(loader->stats().slots_allocated, 5U) << "four that lie ready and the consumer's";
}

TEST_F(LoaderControl, GivenNumbersStay) {
  auto loader = *Loader::open(folder_.options(), parts_);
  train(*loader, 60, 200 * kNsPerMs);
  EXPECT_EQ(loader->thread_count(), 2);
  EXPECT_TRUE(loader->explain().empty());
}

TEST_F(LoaderControl, MemoryBoundsThePrefetch) {
  LoaderOptions options = folder_.options();
  options.prefetch_batches = 100;
  options.memory_bytes = 5 * (4 * 32 * 32 * 3 + 64);  // five slots
  auto loader = *Loader::open(options);
  ASSERT_TRUE(loader->begin_submitted_epoch(0));
  EXPECT_EQ(loader->wanted_batches(), 4U) << "and one that the consumer holds";
}

}  // namespace
}  // namespace unstarve::feed
