#include "host/code_samples.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "host/code_map.h"
#include "host/host_files.h"

namespace unstarve::host {
namespace {

using std::chrono_literals::operator""ms;

TEST(CodeRanges, AreThoseThatMayBeRun) {
  const auto ranges = parse_code_ranges(
      "7f0000000000-7f0000100000 r-xp 00001000 08:01 12   /usr/lib/with a blank.so\n"
      "00700000-00800000 rw-p 00000000 08:01 11 /usr/bin/python3.11\n"
      "00400000-00600000 r-xp 00000000 08:01 11 /usr/bin/python3.11\n"
      "7f0000200000-7f0000201000 r-xp 00000000 00:00 0 \n");
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].path, "/usr/bin/python3.11");
  EXPECT_EQ(ranges[0].begin, 0x400000U);
  EXPECT_EQ(ranges[0].end, 0x600000U);
  EXPECT_EQ(ranges[1].path, "/usr/lib/with a blank.so");
  EXPECT_EQ(ranges[2].path, "");
}

TEST(CodeRanges, LeaveOutWhatIsNotOne) {
  EXPECT_TRUE(parse_code_ranges("").empty());
  EXPECT_TRUE(parse_code_ranges("\n\nx\n400000 r-xp 0 0 0 /a\n").empty());
  EXPECT_TRUE(parse_code_ranges("600000-400000 r-xp 0 0 0 /a\nzz-zz r-xp 0 0 0 /a\n").empty());
  EXPECT_TRUE(parse_code_ranges("1-123456789012345678901 r-xp 0 0 0 /a\n").empty());
}

/// What a process that is watched does: starts another one, which runs only this.
[[gnu::noinline]] void spin_for_ever() {
  for (volatile bool on = true; on;) {
  }
}

class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    std::this_thread::sleep_for(50ms);  // until it is watched
    if (::fork() == 0) spin_for_ever();
    ::pause();
    ::_exit(0);
  }
  ~Child() {
    ::kill(0 - pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(CodeSamples, AreOfWhatAProcessStartsToo) {
  const Child child;
  ::setpgid(child.pid(), child.pid());
  auto samples = open_code_samples(child.pid(), /*period_ns=*/5'000'000);
  if (!samples && samples.error().code == ErrorCode::kNoPermission) {
    GTEST_SKIP() << samples.error().message;
  }
  ASSERT_TRUE(samples) << samples.error().message;
  std::vector<CodeSample> found;
  for (int i = 0; i < 200 && found.size() < 40; ++i) {
    std::this_thread::sleep_for(20ms);
    (*samples)->drain(found);
  }
  ASSERT_GE(found.size(), 40U) << "of 5 ms of CPU time each";
  // Forked, it has this program's code where we have it.
  const HostFiles files;
  const auto maps = files.read("/proc/self/maps");
  ASSERT_TRUE(maps);
  const auto ours = reinterpret_cast<std::uintptr_t>(&spin_for_ever);
  std::size_t here = 0;
  for (const CodeSample& sample : found) {
    EXPECT_NE(sample.pid, child.pid()) << "it sleeps";
    EXPECT_EQ(sample.pid, sample.thread);
    for (const CodeRange& range : parse_code_ranges(*maps)) {
      const bool is_ours = range.begin <= ours && ours < range.end;
      if (is_ours && range.begin <= sample.address && sample.address < range.end) ++here;
    }
  }
  EXPECT_GE(here, found.size() * 9 / 10);
  EXPECT_GE(found.back().t_ns, found.front().t_ns);
}

TEST(CodeSamples, OfAProcessThatIsNotThereAreNone) {
  const auto samples = open_code_samples(/*process=*/0x3fffffff, 5'000'000);
  EXPECT_FALSE(samples);
}

}  // namespace
}  // namespace unstarve::host
