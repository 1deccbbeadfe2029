#include "host/code_samples.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "host/code_map.h"
#include "host/host_files.h"

namespace unstarve::host {
namespace {

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

[[gnu::noinline]] void spin_for_ever() {
  for (volatile bool on = true; on;) {
  }
}

/// A process that runs that alone.
class Spinning {
 public:
  Spinning() : pid_(::fork()) {
    if (pid_ == 0) spin_for_ever();
  }
  ~Spinning() { end(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(CodeSamples, AreOfTheCodeThatAThreadRuns) {
  Spinning child;
  auto samples = open_code_samples(child.pid(), /*period_ns=*/5'000'000);
  if (!samples && samples.error().code == ErrorCode::kNoPermission) {
    GTEST_SKIP() << samples.error().message;
  }
  ASSERT_TRUE(samples) << samples.error().message;
  std::vector<CodeSample> found;
  for (int i = 0; i < 500 && found.size() < 250; ++i) {  // more than a page holds
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (*samples)->drain(found);
  }
  ASSERT_GE(found.size(), 250U) << "of 5 ms of CPU time each";
  // Forked, it has this program's code where we have it.
  const auto maps = HostFiles().read("/proc/self/maps");
  ASSERT_TRUE(maps);
  const auto ours = reinterpret_cast<std::uintptr_t>(&spin_for_ever);
  std::size_t here = 0;
  for (const CodeRange& range : parse_code_ranges(*maps)) {
    if (ours < range.begin || range.end <= ours) continue;
    for (const CodeSample& sample : found) {
      if (range.begin <= sample.address && sample.address < range.end) ++here;
    }
  }
  EXPECT_GE(here, found.size() * 9 / 10);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GT(found[i].t_ns, found[i - 1].t_ns);

  EXPECT_FALSE((*samples)->has_ended());
  child.end();
  EXPECT_TRUE((*samples)->has_ended());
}

TEST(CodeSamples, OfAThreadThatIsNotThereAreNone) {
  const auto samples = open_code_samples(/*thread=*/0x3fffffff, 5'000'000);
  ASSERT_FALSE(samples);
  EXPECT_NE(samples.error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace unstarve::host
