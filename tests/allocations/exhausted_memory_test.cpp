// Memory that runs out in any thread of a loader is an error of its epoch, or costs nothing but
// speed; the process, which is somebody's training, goes on.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "allocations/counted_allocator.h"
#include "base/testing/test_folder.h"
#include "feed/cache/testing/later_files.h"
#include "feed/pack/pack_job.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

using test::EpochResult;
using test::JpegFolder;
using test::run_epoch;

// More than an epoch's threads ask for; a loop ends where no allocation was refused any more.
constexpr std::uint64_t kMostAllocations = 20'000;

/// The memory of slots, counted.
class CountedSlots final : public SlotMemory {
 public:
  void* allocate(std::size_t bytes) noexcept override {
    void* memory = plain_.allocate(bytes);
    if (memory != nullptr) ++alive;
    return memory;
  }
  void release(void* memory) noexcept override {
    --alive;
    plain_.release(memory);
  }
  std::atomic<int> alive{0};

 private:
  PageableMemory plain_;
};

class ExhaustedMemoryTest : public testing::TestWithParam<bool> {
 protected:
  // The consumer's memory is the trainer's own.
  ExhaustedMemoryTest() { unstarve::test::ignore_this_thread(); }

  LoaderOptions options() const {
    LoaderOptions options = folder_.options();
    options.keep_index = false;
    return options;
  }

  /// Runs an epoch in which an allocation fails, and one with all memory. False where that many
  /// are not asked for.
  bool run_with_failure(const LoaderOptions& options, std::uint64_t nth) {
    const auto slots = std::make_shared<CountedSlots>();
    LoaderParts parts = LoaderParts::real();
    parts.memory = slots;
    parts.cache_files = std::make_shared<test::LaterFiles>();
    bool refused = false;
    {
      auto loader = Loader::open(options, parts);
      EXPECT_TRUE(loader) << loader.error().message;
      unstarve::test::fail_allocations(nth, GetParam());
      const EpochResult first = run_epoch(**loader, 0);
      refused = unstarve::test::end_failures();
      check(options, first, refused);
      const EpochResult second = run_epoch(**loader, 0);
      EXPECT_FALSE(second.error) << second.error->message;
      if (options.on_error == OnError::kRaise) {
        EXPECT_EQ(second.hash, sound_hash_);
      }
    }
    EXPECT_EQ(slots->alive, 0) << "slots leak";
    return refused;
  }
  void check(const LoaderOptions& options, const EpochResult& result, bool refused) const {
    if (result.error) {
      EXPECT_TRUE(refused) << result.error->message;
      EXPECT_EQ(result.error->code, ErrorCode::kOutOfMemory) << result.error->message;
    } else if (options.on_error == OnError::kRaise) {
      EXPECT_EQ(result.hash, sound_hash_);
    }
  }

  void fail_each_allocation(const LoaderOptions& options, std::uint64_t fewest) {
    sound_hash_ = run_epoch(**Loader::open(this->options()), 0).hash;
    std::uint64_t reached = 0;
    for (std::uint64_t nth = 1; nth < kMostAllocations; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      if (!run_with_failure(options, nth)) break;
      reached = nth;
      if (HasFailure()) return;
    }
    EXPECT_GE(reached, fewest);
    RecordProperty("allocations", std::to_string(reached));
  }

  JpegFolder folder_;
  TestFolder target_;
  std::uint64_t sound_hash_ = 0;
};

TEST_P(ExhaustedMemoryTest, OverAFolder) { fail_each_allocation(options(), 20); }

TEST_P(ExhaustedMemoryTest, WhereSamplesAreLeftOut) {
  LoaderOptions skipping = options();
  skipping.on_error = OnError::kSkip;
  folder_.truncate(3);
  fail_each_allocation(skipping, 20);
}

TEST_P(ExhaustedMemoryTest, WhereSamplesAreReplaced) {
  LoaderOptions replacing = options();
  replacing.on_error = OnError::kReplace;
  folder_.truncate(3);
  fail_each_allocation(replacing, 20);
}

TEST_P(ExhaustedMemoryTest, WhileACacheIsFilled) {
  LoaderOptions cached = options();
  cached.cache_dir = target_.path() + "/cache";
  // The cache of an epoch before would be found by the next.
  sound_hash_ = run_epoch(**Loader::open(options()), 0).hash;
  std::uint64_t reached = 0;
  for (std::uint64_t nth = 1; nth < kMostAllocations; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    std::filesystem::remove_all(cached.cache_dir);
    if (!run_with_failure(cached, nth)) break;
    reached = nth;
    if (HasFailure()) return;
  }
  EXPECT_GE(reached, 20U);
}

TEST_P(ExhaustedMemoryTest, OverShards) {
  PackOptions settings;
  settings.source = options().root;
  settings.target = target_.path() + "/shards";
  Result<PackJob> job = PackJob::open(settings);
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_TRUE(job->run([](const PackProgress&) {}));
  LoaderOptions packed = options();
  packed.root = settings.target;
  fail_each_allocation(packed, 10);
}

/// A word for the names of tests.
std::string name_of(const testing::TestParamInfo<bool>& info) {
  return info.param ? "ForEver" : "Once";
}

INSTANTIATE_TEST_SUITE_P(Fails, ExhaustedMemoryTest, testing::Values(false, true), name_of);

}  // namespace
}  // namespace unstarve::feed
