#include "observe/outside/threads/fetch_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "observe/outside/threads/testing/source_test.h"

namespace unstarve::observe {
namespace {

constexpr std::int64_t kTickNs = 100'000'000;
constexpr const char* kInSleep = "230 0x0\n";  // clock_nanosleep
constexpr const char* kInLock = "202 0x0\n";   // futex

/// Threads of a recorded machine; numbers of calls are those of x86-64.
class FetchSourceTest : public SourceTest {
 protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the recorded numbers of calls are x86-64's";
#endif
    SourceTest::SetUp();
  }

  void set_call(std::int64_t pid, const std::string& text) {
    std::filesystem::create_directories(task_of(pid));
    std::ofstream(task_of(pid) + "/syscall") << text;
  }
  void end_thread(std::int64_t pid) { std::filesystem::remove_all(task_of(pid)); }

  void fetch(std::int64_t pid, std::int64_t first_tick, std::int64_t last_tick) {
    trace::FetchRow row;
    row.pid = pid;
    row.thread = pid;
    row.when = {first_tick * kTickNs, last_tick * kTickNs + 1};
    source_.note(row);
  }
  void tick(bool full_second = false) {
    source_.sample({number_, number_ * kTickNs, full_second}, *book_);
    ++number_;
  }
  Reading<double> looks(std::string_view where) const {
    return book_->latest("job.fetch_looks_" + std::string(where), "job");
  }

  FetchSource source_{files_};
  std::int64_t number_ = 0;
};

TEST_F(FetchSourceTest, CountsWhatLiesWithinFetchesAndNothingElse) {
  set_call(7, kInLock);
  fetch(7, -2, -1);  // from now on its thread is known
  tick();            // 0: waits for its next order
  tick();            // 1
  set_call(7, kInSleep);
  tick();  // 2: within the fetch
  tick();  // 3
  set_call(7, "running\n");
  tick();  // 4
  tick();  // 5: after it
  fetch(7, 2, 4);
  tick(true);
  EXPECT_DOUBLE_EQ(*looks("asleep"), 2);
  EXPECT_DOUBLE_EQ(*looks("on_cpu"), 1);
  EXPECT_DOUBLE_EQ(*looks("in_locks"), 0) << "a worker that waits for its next order";
  fetch(7, 5, 6);
  tick(true);
  EXPECT_DOUBLE_EQ(*looks("asleep"), 0) << "counts are of each second";
  EXPECT_DOUBLE_EQ(*looks("on_cpu"), 2);
}

TEST_F(FetchSourceTest, SaysNothingWhereNobodyFetches) {
  tick(true);
  tick(true);
  EXPECT_EQ(looks("on_cpu").why_absent(), WhyAbsent::kNotObserved);
}

TEST_F(FetchSourceTest, ForgetsThreadsThatEnd) {
  set_call(7, kInSleep);
  set_call(8, kInSleep);
  fetch(7, -2, -1);
  fetch(8, -2, -1);
  tick();
  end_thread(7);
  tick();
  fetch(7, 0, 1);
  fetch(8, 0, 1);
  tick(true);
  EXPECT_DOUBLE_EQ(*looks("asleep"), 2) << "of the one that is left";
}

TEST_F(FetchSourceTest, SaysWhyItSeesNothing) {
  set_call(7, "");
  std::ofstream(task_of(7) + "/stat")
      << "7 (python) S 1 1 1 0 -1 0 0 0 0 0 50 5 0 0 20 0 3 0 77 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
         "0 0 0 0 0 0\n";
  fetch(7, -2, -1);
  tick();
  tick(true);
  EXPECT_EQ(looks("on_cpu").why_absent(), WhyAbsent::kNoPermission);
}

TEST_F(FetchSourceTest, ManyThreadsTakeTurns) {
  constexpr std::int64_t kThreads = 2 * FetchSource::kMostLooks;
  for (std::int64_t pid = 100; pid < 100 + kThreads; ++pid) {
    set_call(pid, kInSleep);
    fetch(pid, -2, -1);
  }
  for (int i = 0; i < 10; ++i) tick();
  fetch(100, 0, 9);
  fetch(100 + kThreads - 1, 0, 9);
  tick(true);
  EXPECT_DOUBLE_EQ(*looks("asleep"), 10) << "five looks at the first, five at the last";
}

}  // namespace
}  // namespace unstarve::observe
