#include "host/thread_look.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/testing/test_folder.h"

namespace unstarve::host {
namespace {

std::string call_text(std::int64_t number, const std::string& first = "0x0") {
  return std::to_string(number) + " " + first + " 0x0 0x7ffe 0x258 0x0 0x0 0x7ffe 0x7f1f\n";
}

TEST(BlockedCall, IsToldByItsNumber) {
  EXPECT_EQ(parse_blocked_call("running\n")->doing, ThreadDoing::kOnCpu);
  EXPECT_EQ(parse_blocked_call("-1 0x7ffe 0x7f1f\n")->doing, ThreadDoing::kFile) << "a page fault";
  EXPECT_EQ(parse_blocked_call(call_text(SYS_openat))->doing, ThreadDoing::kFile);
  EXPECT_EQ(parse_blocked_call(call_text(426))->doing, ThreadDoing::kFile) << "io_uring_enter";
  EXPECT_EQ(parse_blocked_call(call_text(SYS_recvfrom))->doing, ThreadDoing::kNetwork);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_ppoll))->doing, ThreadDoing::kNetwork);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_clock_nanosleep))->doing, ThreadDoing::kSleep);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_futex))->doing, ThreadDoing::kLock);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_wait4))->doing, ThreadDoing::kOther);
}

TEST(BlockedCall, OfReadHasTheDescriptorThatTellsFilesFromSockets) {
  EXPECT_EQ(parse_blocked_call(call_text(SYS_read, "0x1f"))->descriptor, 31);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_openat, "0x1f"))->descriptor, -1);
  EXPECT_EQ(parse_blocked_call(call_text(SYS_read, "0xfffffffff"))->descriptor, -1) << "no number";
  EXPECT_EQ(doing_with_descriptor("/data/0.jpg"), ThreadDoing::kFile);
  EXPECT_EQ(doing_with_descriptor("socket:[4711]"), ThreadDoing::kNetwork);
  EXPECT_EQ(doing_with_descriptor("pipe:[4711]"), ThreadDoing::kOther);
}

TEST(BlockedCall, ThatIsNoneIsAnError) {
  EXPECT_FALSE(parse_blocked_call(""));
  EXPECT_FALSE(parse_blocked_call("walking"));
  EXPECT_FALSE(parse_blocked_call("99999999999999999999 0x0"));
}

TEST(KernelFunction, IsToldByPartsOfItsName) {
  EXPECT_EQ(doing_in_kernel_function("hrtimer_nanosleep"), ThreadDoing::kSleep);
  EXPECT_EQ(doing_in_kernel_function("futex_wait_queue"), ThreadDoing::kLock);
  EXPECT_EQ(doing_in_kernel_function("folio_wait_bit_common"), ThreadDoing::kFile);
  EXPECT_EQ(doing_in_kernel_function("do_sys_poll"), ThreadDoing::kNetwork);
  EXPECT_EQ(doing_in_kernel_function("do_wait"), ThreadDoing::kOther);
}

class RecordedThread : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path full = folder_.path() + "/proc/7/task/8/" + name;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void write_state(char state) {
    write("stat", std::string("8 (python) ") + state +
                      " 1 1 1 0 -1 0 0 0 0 0 50 5 0 0 20 0 3 0 77 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                      "0 0 0 0 0 0\n");
  }
  Reading<ThreadDoing> look() { return look_at_thread(files_, 7, 8); }

  TestFolder folder_;
  HostFiles files_{folder_.path()};
};

TEST_F(RecordedThread, ThatReadsASocketWaitsForTheNetwork) {
  write("syscall", call_text(SYS_read, "0x5"));
  EXPECT_EQ(*look(), ThreadDoing::kFile) << "as long as nothing says otherwise";
  std::filesystem::create_directories(folder_.path() + "/proc/7/fd");
  std::filesystem::create_symlink("socket:[4711]", folder_.path() + "/proc/7/fd/5");
  EXPECT_EQ(*look(), ThreadDoing::kNetwork);
}

TEST_F(RecordedThread, WhoseCallWeMayNotSeeIsJudgedByWhatIsLeft) {
  EXPECT_EQ(look().why_absent(), WhyAbsent::kNotObserved) << "no such thread";
  write_state('S');
  EXPECT_EQ(look().why_absent(), WhyAbsent::kNoPermission);
  write("wchan", "0");
  EXPECT_EQ(look().why_absent(), WhyAbsent::kNoPermission);
  write_state('D');
  EXPECT_EQ(*look(), ThreadDoing::kFile);
  write_state('R');
  EXPECT_EQ(*look(), ThreadDoing::kOnCpu);
  write_state('S');
  write("wchan", "futex_wait_queue");
  EXPECT_EQ(*look(), ThreadDoing::kLock);
}

TEST(ThreadOfThisProcess, IsSeenAsleep) {
  if (!HostFiles().exists("/proc/self/syscall")) GTEST_SKIP() << "a kernel that does not tell";
  std::atomic<std::int64_t> thread_id = 0;
  std::atomic<bool> is_over = false;
  const std::jthread sleeper([&thread_id, &is_over] {
    thread_id = ::syscall(SYS_gettid);
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  while (thread_id == 0) std::this_thread::yield();
  Reading<ThreadDoing> doing;
  do {  // sooner or later
    doing = look_at_thread(HostFiles(), ::getpid(), thread_id);
  } while (doing && *doing != ThreadDoing::kSleep);
  is_over = true;
  ASSERT_TRUE(doing) << to_string(doing.why_absent());
}

}  // namespace
}  // namespace unstarve::host
