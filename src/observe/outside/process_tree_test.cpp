#include "observe/outside/process_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/testing/test_folder.h"

namespace unstarve::observe {
namespace {

constexpr std::int64_t kRoot = 100;
constexpr std::int64_t kWorker = 101;
constexpr std::int64_t kStranger = 7;

struct Used {
  std::int64_t user = 0;
  std::int64_t system = 0;
  std::int64_t reaped_user = 0;
  std::int64_t reaped_system = 0;
};

/// Does something before a file is opened for the next time.
class DisturbedFiles final : public io::Files {
 public:
  void before_open_of(std::string end_of_path, std::function<void()> action) {
    end_of_path_ = std::move(end_of_path);
    action_ = std::move(action);
  }
  Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode) override {
    if (action_ && path.ends_with(end_of_path_)) std::exchange(action_, nullptr)();
    return Files::open(path, flags, mode);
  }

 private:
  std::string end_of_path_;
  std::function<void()> action_;
};

class ProcessTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    put(kRoot, 1, 77, {});
    put(kStranger, 1, 60, {});
  }
  void put(std::int64_t pid, std::int64_t parent, std::int64_t start, Used used) {
    const std::string folder = folder_of(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/stat") << fmt::format(
        "{} (python) S {} 1 1 0 -1 0 0 0 0 0 {} {} {} {} 20 0 3 0 {} 0 10 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0 0 0 0 0 0 0 0\n",
        pid, parent, used.user, used.system, used.reaped_user, used.reaped_system, start);
  }
  void put_reads(std::int64_t pid, std::int64_t chars) {
    std::ofstream(folder_of(pid) + "/io")
        << fmt::format("rchar: {}\nread_bytes: 0\nwrite_bytes: 0\n", chars);
  }
  void end(std::int64_t pid) { std::filesystem::remove_all(folder_of(pid)); }
  void put_strangers(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) put(1000 + i, 1, 50, {});
  }
  TreeCounters counters() { return tree_.read_counters(); }
  TreeReadings read() { return tree_.read(); }
  std::int64_t user() { return read().user_ticks; }

  std::shared_ptr<DisturbedFiles> open_files_ = std::make_shared<DisturbedFiles>();

 private:
  std::string folder_of(std::int64_t pid) const { return root_ + "/proc/" + std::to_string(pid); }

  TestFolder folder_;
  std::string root_ = folder_.path() + "/root";
  host::HostFiles files_{root_, open_files_};
  ProcessTree tree_{files_, kRoot};
};

TEST_F(ProcessTreeTest, UseBeforeTheFirstReadingIsNotCounted) {
  put(kRoot, 1, 77, {500, 50, 300, 30});
  put(kWorker, kRoot, 78, {40, 4});
  const TreeReadings first = read();
  EXPECT_EQ(first.processes, 2);
  EXPECT_EQ(first.user_ticks, 0);
  put(kRoot, 1, 77, {501, 50, 300, 30});
  put(kWorker, kRoot, 78, {42, 5});
  const TreeReadings second = read();
  EXPECT_EQ(second.user_ticks, 3);
  EXPECT_EQ(second.system_ticks, 1);
  EXPECT_EQ(second.busiest_ticks, 3);
}

TEST_F(ProcessTreeTest, TheUseOfAProcessThatEndedStaysCounted) {
  put(kWorker, kRoot, 78, {50, 5});
  EXPECT_EQ(read().processes, 2);
  put(kWorker, kRoot, 78, {80, 5});
  EXPECT_EQ(user(), 30);
  end(kWorker);
  const TreeReadings after = read();
  EXPECT_EQ(after.processes, 1);
  EXPECT_EQ(after.user_ticks, 30);
  EXPECT_EQ(user(), 30);
}

TEST_F(ProcessTreeTest, AnotherProcessByTheSameNumberIsNotTheJobs) {
  put(kWorker, kRoot, 78, {});
  EXPECT_EQ(read().processes, 2);
  put(kWorker, 1, 99, {1000, 0});
  const TreeReadings after = read();
  EXPECT_EQ(after.processes, 1);
  EXPECT_EQ(after.user_ticks, 0);
}

TEST_F(ProcessTreeTest, AWorkerThatBeginsLaterCountsFromItsStart) {
  EXPECT_EQ(user(), 0);
  put(kWorker, kRoot, 90, {9, 2});
  const TreeReadings found = read();
  EXPECT_EQ(found.processes, 2);
  EXPECT_EQ(found.user_ticks, 9);
  EXPECT_EQ(found.system_ticks, 2);
  put_reads(kWorker, 4096);
  EXPECT_EQ(*counters()[static_cast<std::size_t>(TreeCounter::kReadChars)], 4096);
}

TEST_F(ProcessTreeTest, AProcessThatNobodySawCountsOnceItsParentWaitedForIt) {
  EXPECT_EQ(user(), 0);
  put(kRoot, 1, 77, {1, 0, 30, 3});
  const TreeReadings after = read();
  EXPECT_EQ(after.user_ticks, 31);
  EXPECT_EQ(after.system_ticks, 3);
  EXPECT_EQ(user(), 31);
}

TEST_F(ProcessTreeTest, AProcessThatWasSeenIsNotCountedAgainWhenItsParentWaitsForIt) {
  put(kWorker, kRoot, 78, {500, 0});
  read();
  put(kWorker, kRoot, 78, {520, 0});
  EXPECT_EQ(user(), 20);
  // Its parent's counter has its whole life, and what it used after its last reading.
  end(kWorker);
  put(kRoot, 1, 77, {0, 0, 524, 0});
  EXPECT_EQ(user(), 24);
  EXPECT_EQ(user(), 24);
}

TEST_F(ProcessTreeTest, AChildThatEndsWhileTheTreeIsReadCountsOnce) {
  read();
  constexpr std::int64_t kLowNumber = 9;  // numbers begin anew after the highest
  put(kLowNumber, kRoot, 90, {10, 0});
  EXPECT_EQ(user(), 10);
  open_files_->before_open_of("/proc/100/stat", [this] {
    end(kLowNumber);
    put(kRoot, 1, 77, {0, 0, 10, 0});
  });
  EXPECT_EQ(user(), 10);
  EXPECT_EQ(user(), 10);
}

TEST_F(ProcessTreeTest, ParentAndChildThatEndTogetherCountOnce) {
  read();
  put(kWorker, kRoot, 90, {10, 0});
  put(kWorker + 1, kWorker, 91, {7, 0});
  EXPECT_EQ(user(), 17);
  end(kWorker);
  end(kWorker + 1);
  put(kRoot, 1, 77, {0, 0, 17, 0});
  EXPECT_EQ(user(), 17);
  EXPECT_EQ(user(), 17);
  EXPECT_EQ(user(), 17);
}

TEST_F(ProcessTreeTest, AReadingThatFailsOnceDoesNotCountALifeTwice) {
  put(kWorker, kRoot, 78, {500, 0});
  read();
  end(kWorker);
  read();
  put(kWorker, kRoot, 78, {510, 0});  // it is there again: its file could not be opened
  EXPECT_EQ(read().processes, 2);
  EXPECT_EQ(user(), 0);
}

TEST_F(ProcessTreeTest, OnABusyMachineWhatIsFoundLateIsNoPeak) {
  put_strangers(600);
  EXPECT_EQ(user(), 0);
  put(kWorker, kRoot, 90, {50, 0});
  std::int64_t before = 0;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t now = user();
    EXPECT_GE(now, before);
    EXPECT_LE(now - before, 10);
    before = now;
  }
  EXPECT_EQ(before, 50);
}

}  // namespace
}  // namespace unstarve::observe
