#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "base/io/files.h"
#include "base/testing/test_folder.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

using test::EpochResult;
using test::run_epoch;

/// Says which calls fail: the n-th, or the n-th and all that follow.
class Fault {
 public:
  Fault(int nth, bool for_ever) : nth_(nth), for_ever_(for_ever) {}
  bool strikes() {
    const int call = ++calls_;
    const bool now = call == nth_ || (for_ever_ && call > nth_);
    if (now) struck_ = true;
    return now;
  }
  bool struck() const { return struck_; }

 private:
  const int nth_;
  const bool for_ever_;
  std::atomic<int> calls_{0};
  std::atomic<bool> struck_{false};
};

class FaultyFiles final : public io::Files {
 public:
  explicit FaultyFiles(Fault& fault) : fault_(fault) {}
  Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode) override {
    if (fault_.strikes()) return fail(ErrorCode::kIo, "injected");
    return Files::open(path, flags, mode);
  }
  Result<io::FileState> state(int file) override {
    if (fault_.strikes()) return fail(ErrorCode::kIo, "injected");
    return Files::state(file);
  }
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    if (fault_.strikes()) return fail(ErrorCode::kIo, "injected");
    return Files::read_at(file, offset, target);
  }

 private:
  Fault& fault_;
};

class FaultyMemory final : public SlotMemory {
 public:
  FaultyMemory(Fault& fault, std::atomic<int>& alive) : fault_(fault), alive_(alive) {}
  void* allocate(std::size_t bytes) noexcept override {
    if (fault_.strikes()) return nullptr;
    ++alive_;
    return plain_.allocate(bytes);
  }
  void release(void* memory) noexcept override {
    --alive_;
    plain_.release(memory);
  }

 private:
  Fault& fault_;
  std::atomic<int>& alive_;
  PageableMemory plain_;
};

class FaultyThreads final : public ThreadStarter {
 public:
  explicit FaultyThreads(Fault& fault) : fault_(fault) {}
  Result<std::jthread> start(std::function<void(std::stop_token)> body) override {
    if (fault_.strikes()) return fail(ErrorCode::kIo, "injected");
    return ThreadStarter::start(std::move(body));
  }

 private:
  Fault& fault_;
};

enum class Target { kRead, kMemory, kThread };

struct Case {
  Target target;
  OnError policy;
  bool for_ever;
};

class LoaderFault : public testing::TestWithParam<Case> {
 protected:
  test::JpegFolder folder_;
};

/// Runs two epochs with the fault at its n-th call. False when the fault was never reached.
bool run_with_fault(const test::JpegFolder& folder, const Case& test_case, int nth,
                    std::uint64_t sound_hash) {
  Fault fault(nth, test_case.for_ever);
  Fault never(0, false);
  std::atomic<int> slots_alive{0};
  {
    LoaderParts parts = LoaderParts::real();
    parts.files = std::make_shared<FaultyFiles>(test_case.target == Target::kRead ? fault : never);
    parts.memory = std::make_shared<FaultyMemory>(
        test_case.target == Target::kMemory ? fault : never, slots_alive);
    parts.threads =
        std::make_shared<FaultyThreads>(test_case.target == Target::kThread ? fault : never);
    LoaderOptions options = folder.options();
    options.on_error = test_case.policy;
    auto loader = Loader::open(options, parts);
    EXPECT_TRUE(loader) << "nothing that fails here is used to open it";
    const EpochResult first = run_epoch(**loader, 0);
    if (first.error) {
      EXPECT_TRUE(fault.struck()) << first.error->message;
      EXPECT_NE(first.error->code, ErrorCode::kTimeout) << "a hang";
      EXPECT_THAT(first.error->message,
                  testing::AnyOf(testing::HasSubstr("injected"), testing::HasSubstr("no memory")));
    } else if (!fault.struck()) {
      EXPECT_EQ(first.hash, sound_hash);
    }
    // What failed once does not matter any more in the next epoch.
    if (fault.struck() && !test_case.for_ever) {
      const EpochResult second = run_epoch(**loader, 0);
      EXPECT_FALSE(second.error) << second.error->message;
      EXPECT_EQ(second.hash, sound_hash);
    }
  }
  EXPECT_EQ(slots_alive, 0) << "slots leak";
  return fault.struck();
}

/// Calls that every run makes, however its threads are scheduled: a consumer that keeps up needs
/// one slot only.
int fewest_calls(Target target) {
  switch (target) {
    case Target::kRead: return 3 * test::JpegFolder::kImages;  // open, state, read_at
    case Target::kMemory: return 1;
    case Target::kThread: return 2;
  }
  return 0;
}

TEST_P(LoaderFault, EachFailureEndsCleanly) {
  const std::uint64_t sound_hash = run_epoch(**Loader::open(folder_.options()), 0).hash;
  int reached = 0;
  // Far beyond the number of calls; the loop ends when a fault is not reached any more.
  for (int nth = 1; nth < 1000; ++nth) {
    if (!run_with_fault(folder_, GetParam(), nth, sound_hash)) break;
    reached = nth;
    if (HasFailure()) return;
  }
  EXPECT_GE(reached, fewest_calls(GetParam().target));
}

INSTANTIATE_TEST_SUITE_P(Calls, LoaderFault,
                         testing::Values(Case{Target::kRead, OnError::kRaise, false},
                                         Case{Target::kRead, OnError::kRaise, true},
                                         Case{Target::kRead, OnError::kSkip, false},
                                         Case{Target::kRead, OnError::kSkip, true},
                                         Case{Target::kRead, OnError::kReplace, false},
                                         Case{Target::kRead, OnError::kReplace, true},
                                         Case{Target::kMemory, OnError::kRaise, false},
                                         Case{Target::kMemory, OnError::kRaise, true},
                                         Case{Target::kMemory, OnError::kSkip, false},
                                         Case{Target::kThread, OnError::kRaise, false},
                                         Case{Target::kThread, OnError::kRaise, true}));

TEST(LoaderFaults, ABatchWithoutMemoryEndsNothingWhereFailuresAreReported) {
  const test::JpegFolder folder;
  Fault second(2, false);
  std::atomic<int> slots_alive{0};
  LoaderParts parts = LoaderParts::real();
  parts.memory = std::make_shared<FaultyMemory>(second, slots_alive);
  LoaderOptions options = folder.options();
  options.on_error = OnError::kReport;
  const auto loader = *Loader::open(options, parts);
  ASSERT_TRUE(loader->begin_submitted_epoch(0));
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(loader->submit_batch(std::vector<std::uint64_t>{i, i + 1}));
  }
  ASSERT_TRUE(loader->finish_submitting());
  std::vector<HostBatch> kept;  // so that each takes a slot of its own
  int failures = 0;
  for (;;) {
    Result<NextBatch> next = loader->next(std::chrono::minutes(1));
    if (!next) {
      EXPECT_EQ(next.error().code, ErrorCode::kOutOfMemory);
      ++failures;
      continue;
    }
    ASSERT_NE(next->state, NextState::kTimeout) << "a hang";
    if (next->state == NextState::kEnd) break;
    kept.push_back(std::move(*next->batch));
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(kept.size(), 3U);
}

/// An array of eight images of 32x32.
std::string write_array(const std::string& folder) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (8, 32, 32, 3)}";
  header.resize(118 - 1, ' ');
  header.push_back('\n');
  std::string path = folder + "/images.npy";
  std::ofstream(path, std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << std::string(8 * 3072, 'x');
  return path;
}

TEST(LoaderFaults, EachFailedReadOfAnArrayEndsCleanly) {
  const TestFolder folder;
  LoaderOptions options;
  options.root = write_array(folder.path());
  options.batch_size = 4;
  options.transform = training_crop(32);
  options.threads = 2;
  const std::uint64_t sound_hash = run_epoch(**Loader::open(options), 0).hash;
  int reached = 0;
  for (int nth = 1; nth < 100; ++nth) {
    Fault fault(nth, false);
    LoaderParts parts = LoaderParts::real();
    parts.files = std::make_shared<FaultyFiles>(fault);
    auto loader = Loader::open(options, parts);
    if (!loader) {
      EXPECT_THAT(loader.error().message, testing::HasSubstr("injected"));
      continue;
    }
    const EpochResult first = run_epoch(**loader, 0);
    if (!fault.struck()) break;
    reached = nth;
    ASSERT_TRUE(first.error);
    EXPECT_THAT(first.error->message, testing::HasSubstr("images.npy at offset"));
    const EpochResult second = run_epoch(**loader, 0);
    EXPECT_FALSE(second.error);
    EXPECT_EQ(second.hash, sound_hash);
  }
  EXPECT_GE(reached, 8) << "one read for each row";
}

/// Fails the first reads of every file the way a disk does that comes back.
class FlakyFiles final : public io::Files {
 public:
  explicit FlakyFiles(int failures) : failures_(failures) {}
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    {
      const io::FileIdentity identity = Files::state(file)->identity;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (seen_[identity]++ < failures_) return fail_errno(EIO, "cannot read");
    }
    return Files::read_at(file, offset, target);
  }

 private:
  const int failures_;
  std::mutex mutex_;
  std::map<io::FileIdentity, int> seen_;
};

TEST(LoaderFaults, ADiskThatFailsForTheMomentChangesNothing) {
  const test::JpegFolder folder;
  const std::uint64_t sound_hash = run_epoch(**Loader::open(folder.options()), 0).hash;
  for (const OnError policy : {OnError::kRaise, OnError::kSkip, OnError::kReplace}) {
    LoaderParts parts = LoaderParts::real();
    parts.clock = std::make_shared<ManualClock>();
    parts.files = std::make_shared<FlakyFiles>(3);
    LoaderOptions options = folder.options();
    options.on_error = policy;
    auto loader = *Loader::open(options, parts);
    const EpochResult result = run_epoch(*loader, 0);
    EXPECT_FALSE(result.error) << result.error->message;
    EXPECT_EQ(result.hash, sound_hash);
    EXPECT_EQ(loader->stats().retries, std::uint64_t(3 * test::JpegFolder::kImages));
    EXPECT_EQ(loader->stats().failed, 0U);
  }
}

TEST(LoaderFaults, ADiskThatFailsForGoodIsAnErrorInTheEnd) {
  const test::JpegFolder folder;
  LoaderParts parts = LoaderParts::real();
  const auto clock = std::make_shared<ManualClock>();
  parts.clock = clock;
  parts.files = std::make_shared<FlakyFiles>(1000);
  LoaderOptions options = folder.options();
  options.threads = 1;
  auto loader = *Loader::open(options, parts);
  const EpochResult result = run_epoch(*loader, 0);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kIo);
  EXPECT_THAT(result.error->message, testing::HasSubstr(".jpg"));
  EXPECT_GE(clock->now_ns(), 1'420'000'000) << "20 + 80 + 320 + 1000 ms of patience";
}

TEST(LoaderFaults, TheMostRetriesTakeSecondsAndNotDays) {
  const test::JpegFolder folder;
  LoaderParts parts = LoaderParts::real();
  const auto clock = std::make_shared<ManualClock>();
  parts.clock = clock;
  parts.files = std::make_shared<FlakyFiles>(1000);
  LoaderOptions options = folder.options();
  options.threads = 1;
  options.batch_size = 1;
  options.read_retries = 16;
  EXPECT_TRUE(run_epoch(**Loader::open(options, parts), 0).error);
  EXPECT_EQ(clock->now_ns(), 13'420'000'000) << "0.42 s and 13 times 1 s";
  options.read_retries = 17;
  EXPECT_EQ(validate(options).error().code, ErrorCode::kInvalidArgument);
}

TEST(LoaderFaults, ALoaderEndsInTheMiddleOfItsRetries) {
  const test::JpegFolder folder;
  LoaderParts parts = LoaderParts::real();
  parts.files = std::make_shared<FlakyFiles>(1000);
  LoaderOptions options = folder.options();
  options.read_retries = 16;
  auto loader = *Loader::open(options, parts);
  ASSERT_TRUE(loader->begin_epoch(0));
  while (loader->stats().retries < 6) std::this_thread::yield();
  loader.reset();  // while both threads wait for a disk that will not come back
}

/// Sleeps for ever, unless it is stopped.
class HeldClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return 1; }
  void sleep_until_ns(std::int64_t) override {}
  bool sleep_until_ns(std::int64_t, const std::stop_token& stop) override {
    const MutexLock lock(mutex_);
    stopped_.wait(mutex_, stop, [] { return false; });
    return false;
  }

 private:
  Mutex mutex_;
  CondVar stopped_;
};

TEST(LoaderFaults, AnotherEpochInterruptsRetries) {
  const test::JpegFolder folder;
  LoaderParts parts = LoaderParts::real();
  parts.clock = std::make_shared<HeldClock>();
  parts.files = std::make_shared<FlakyFiles>(1);  // each file fails once
  LoaderOptions options = folder.options();
  options.shuffle = false;
  options.threads = 1;
  options.prefetch_batches = 8;  // all files, without a consumer
  auto loader = *Loader::open(options, parts);
  for (int file = 0; file < test::JpegFolder::kImages; ++file) {
    ASSERT_TRUE(loader->begin_epoch(0));
    while (loader->stats().retries <= static_cast<std::uint64_t>(file)) std::this_thread::yield();
  }
  const EpochResult result = run_epoch(*loader, 0);
  EXPECT_FALSE(result.error) << result.error->message;
  EXPECT_EQ(loader->stats().failed, 0U) << "what was interrupted did not fail";
}

TEST(LoaderFaults, AFileThatShrinksIsAnErrorAndNeverOtherPixels) {
  const test::JpegFolder folder;
  LoaderOptions options = folder.options();
  options.shuffle = false;
  const std::uint64_t sound_hash = run_epoch(**Loader::open(options), 0).hash;
  const auto size = std::filesystem::file_size(folder.path_of(5));
  auto loader = *Loader::open(options);
  for (std::uintmax_t left = size - 1; left > size / 2; left = left - 1 - size / 20) {
    std::filesystem::resize_file(folder.path_of(5), left);
    const EpochResult result = run_epoch(*loader, 0);
    if (result.error) {
      EXPECT_EQ(result.error->code, ErrorCode::kCorruptData);
      EXPECT_THAT(result.error->message, testing::HasSubstr(folder.path_of(5).string()));
    } else {
      EXPECT_EQ(result.hash, sound_hash) << "only what the decoder never looks at may lack";
    }
  }
}

TEST(LoaderFaults, AFileThatWentAwayIsNamed) {
  const test::JpegFolder folder;
  LoaderOptions options = folder.options();
  options.shuffle = false;
  auto loader = *Loader::open(options);
  std::filesystem::remove(folder.path_of(6));
  const EpochResult result = run_epoch(*loader, 0);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error->message, testing::HasSubstr(folder.path_of(6).string()));
}

TEST(LoaderFaults, APipeInTheFolderDoesNotHang) {
  const test::JpegFolder folder;
  LoaderOptions options = folder.options();
  std::filesystem::remove(folder.path_of(6));
  ASSERT_EQ(::mkfifo(folder.path_of(6).c_str(), 0600), 0);
  const EpochResult result = run_epoch(**Loader::open(options), 0);
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, testing::HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace unstarve::feed
