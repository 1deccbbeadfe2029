#include "observe/inside/cupti/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/testing/test_folder.h"
#include "observe/inside/cupti/testing/fake_cupti.h"

namespace unstarve::recording {
namespace {

using cupti::Code;
using cupti::Kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t number(Kind kind) { return static_cast<std::uint32_t>(kind); }
const char* const kKernelName = "_Z4gemmv";

/// All that a ring holds.
struct Written {
  std::vector<cupti::RecordingWindow> windows;
  std::vector<cupti::Kernel> kernels;
  std::vector<cupti::Memcpy> copies;
  std::vector<cupti::ApiCall> calls;
  std::string text;
  std::string path;
};

class RecorderTest : public testing::Test {
 protected:
  Recorder& start(WindowPlan plan = {}, int pauses = 0) {
    Recorder& made = make(plan, pauses);
    EXPECT_TRUE(made.start());
    return made;
  }
  Recorder& make(WindowPlan plan = {}, int pauses = 0) {
    // As in a process, it is never destroyed: CUPTI has its addresses. Leaks are told by whether
    // somebody still knows them.
    static auto& all = *new std::vector<std::unique_ptr<Recorder>>;
    all.push_back(std::make_unique<Recorder>(
        fake_.functions(),
        Recorder::Options{.rings_folder = folder_.path(), .plan = plan, .pauses = pauses}));
    return *all.back();
  }
  std::vector<std::string> rings() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".ring") paths.push_back(entry.path().string());
    }
    return paths;
  }
  Written read() const {
    Written out;
    EXPECT_EQ(rings().size(), 1);
    out.path = rings().at(0);
    Result<RingReader> ring = RingReader::open(out.path);
    EXPECT_TRUE(ring);
    EXPECT_TRUE(ring->drain([&](std::span<const std::byte> record) {
      if (auto window = cupti::from_ring_record<cupti::RecordingWindow>(record)) {
        out.windows.push_back(*window);
      } else if (auto kernel = cupti::from_ring_record<cupti::Kernel>(record)) {
        out.kernels.push_back(*kernel);
      } else if (auto copy = cupti::from_ring_record<cupti::Memcpy>(record)) {
        out.copies.push_back(*copy);
      } else if (auto call = cupti::from_ring_call(record)) {
        out.calls.push_back(*call);
      }
    }));
    out.text = ring->text().value();
    return out;
  }
  cupti::Kernel kernel(std::int64_t start_ns) const {
    cupti::Kernel record;
    record.start_ns = fake_.at(start_ns);
    record.end_ns = fake_.at(start_ns + 500);
    record.device_id = 0;
    record.correlation_id = 7;
    std::memcpy(&record.name, &kKernelName, sizeof(kKernelName));
    return record;
  }

  TestFolder folder_;
  FakeCupti fake_;
};

TEST_F(RecorderTest, WhatEndedInAWindowLiesBetweenItsTwoRecords) {
  Recorder& recorder = start();
  const std::int64_t now = SteadyClock().now_ns();
  fake_.emit(kernel(now), 224);  // of a newer CUPTI: longer
  recorder.end();
  const Written written = read();
  ASSERT_EQ(written.windows.size(), 2);
  EXPECT_EQ(written.windows[0].end_ns, 0);
  EXPECT_EQ(written.windows[1].number, 0);
  EXPECT_EQ(written.windows[1].start_ns, written.windows[0].start_ns);
  EXPECT_GE(written.windows[1].end_ns, now);
  EXPECT_EQ(written.windows[1].records_lost, 0);
  ASSERT_EQ(written.kernels.size(), 1);
  const std::int64_t off = static_cast<std::int64_t>(written.kernels[0].start_ns) - now;
  EXPECT_LE(std::abs(off), written.windows[1].clock_error_ns);
  EXPECT_EQ(RingNamesReader(written.path).name(written.kernels[0].name), kKernelName);
  EXPECT_THAT(written.text,
              HasSubstr("the first 10 s and the first 10 s of steps, then 1 s in each"));
  EXPECT_THAT(fake_.enabled(), IsEmpty());
  EXPECT_EQ(fake_.calls_on(), 0);
}

TEST_F(RecorderTest, TimesOfAClockInAnotherUnitAreUnderstood) {
  fake_.ticks_per_ns = 3;
  Recorder& recorder = start();
  const std::int64_t now = SteadyClock().now_ns();
  while (SteadyClock().now_ns() < now + 2'000'000) {
  }
  fake_.emit(kernel(now + 1'000'000));
  recorder.end();
  const Written written = read();
  ASSERT_EQ(written.kernels.size(), 1);
  EXPECT_NEAR(static_cast<double>(written.kernels[0].start_ns - static_cast<std::uint64_t>(now)),
              1e6, 20e3);
}

TEST_F(RecorderTest, AnotherProfilerIsLeftAlone) {
  for (const Code code : {Code::kMultipleSubscribersNotSupported, Code::kUnknown}) {
    fake_.enable_answers[number(Kind::kConcurrentKernel)] = code;
    Recorder& recorder = make();
    const Status started = recorder.start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message,
                HasSubstr(fmt::format("(error {})", static_cast<int>(code))));
    EXPECT_THAT(fake_.enabled(), IsEmpty());
  }
  EXPECT_THAT(rings(), IsEmpty());
}

TEST_F(RecorderTest, KindsThatAnOldCuptiLacksAreDoneWithout) {
  fake_.enable_answers[number(Kind::kOverhead)] = Code::kInvalidKind;
  fake_.is_old = true;
  Recorder& recorder = start();
  EXPECT_TRUE(fake_.enabled().contains(number(Kind::kRuntime))) << "single calls it cannot choose";
  EXPECT_FALSE(fake_.enabled().contains(number(Kind::kOverhead)));
  cupti::ApiCall call;
  call.start_ns = call.end_ns = fake_.at(SteadyClock().now_ns());
  call.call = static_cast<std::uint32_t>(cupti::RuntimeCall::kCudaEventQuery);
  fake_.emit(call);
  call.call = static_cast<std::uint32_t>(cupti::RuntimeCall::kCudaLaunchKernel);
  fake_.emit(call);
  fake_.emit(kernel(SteadyClock().now_ns()), 160);  // what CUDA 11 knew of a kernel
  recorder.end();
  const Written written = read();
  ASSERT_EQ(written.calls.size(), 1) << "queries tell nobody anything";
  EXPECT_EQ(written.calls[0].call, call.call);
  EXPECT_EQ(written.kernels.size(), 1);
  EXPECT_THAT(fake_.enabled(), IsEmpty());
}

TEST_F(RecorderTest, WhatIsLostIsCounted) {
  fake_.dropped = 5;
  Recorder& recorder = start();
  fake_.emit(kernel(SteadyClock().now_ns()));
  fake_.emit(kernel(SteadyClock().now_ns()), 64);  // cut off
  fake_.emit(cupti::Memcpy{.start_ns = 9, .end_ns = 5});
  fake_.emit(std::uint32_t{59});   // a kind that nobody here reads
  fake_.emit(std::uint32_t{900});  // and one that CUPTI itself does not know
  recorder.end();
  const Written written = read();
  EXPECT_EQ(written.kernels.size(), 1);
  EXPECT_EQ(written.windows.back().records_lost, 5 + 1 + 1 + 1);
}

TEST_F(RecorderTest, WhatStillRunsIsWaitedForAndForcedAtLast) {
  fake_.holds_buffers = true;
  Recorder& recorder = start();
  fake_.emit(kernel(SteadyClock().now_ns()));
  cupti::Kernel running = kernel(SteadyClock().now_ns());
  running.end_ns = 0;
  fake_.emit(running);
  recorder.end();
  EXPECT_EQ(fake_.forced_flushes(), 1);
  const Written written = read();
  EXPECT_EQ(written.kernels.size(), 1);
  EXPECT_EQ(written.windows.back().records_lost, 0) << "its launch tells of it";
}

TEST_F(RecorderTest, APauseGivesCuptiFreeAndAWindowFollowsIt) {
  Recorder& recorder = start();
  fake_.emit(kernel(SteadyClock().now_ns()));
  recorder.pause();
  recorder.pause();
  EXPECT_THAT(fake_.enabled(), IsEmpty());
  EXPECT_EQ(read().windows.size(), 2);
  recorder.resume();
  recorder.resume();
  while (fake_.enabled().empty()) {
  }
  recorder.end();
  const Written written = read();
  ASSERT_EQ(written.windows.size(), 4);
  EXPECT_EQ(written.windows[3].number, 1);
  EXPECT_GE(written.windows[3].start_ns, written.windows[1].end_ns);
}

TEST_F(RecorderTest, APauseBeforeTheBeginningHoldsFromTheBeginning) {
  Recorder& recorder = start({}, 1);
  EXPECT_THAT(fake_.enabled(), IsEmpty());
  recorder.resume();
  while (fake_.enabled().empty()) {
  }
  recorder.end();
}

TEST_F(RecorderTest, AProcessThatDoesNothingLeavesNothing) {
  Recorder& recorder = start();
  recorder.end();
  EXPECT_THAT(rings(), IsEmpty());
}

TEST_F(RecorderTest, WithoutRoomForARingItGivesUp) {
  std::filesystem::remove_all(folder_.path());
  Recorder& recorder = start();
  fake_.emit(kernel(SteadyClock().now_ns()));
  recorder.end();
  EXPECT_THAT(recorder.failure(), HasSubstr("No such file"));
  EXPECT_THAT(fake_.enabled(), IsEmpty());
  std::filesystem::create_directory(folder_.path());
}

TEST_F(RecorderTest, ABufferOfAnotherProfilerIsNotTouched) {
  Recorder& recorder = start();
  std::vector<std::uint8_t> theirs(1000, 1);
  fake_.complete_foreign(theirs.data(), theirs.size());
  fake_.emit(kernel(SteadyClock().now_ns()));
  recorder.end();
  EXPECT_THAT(theirs, Not(testing::Contains(0)));
  EXPECT_EQ(read().windows.back().records_lost, 0);
}

TEST_F(RecorderTest, AChildOfForkHasNoRecorder) {
  Recorder& recorder = start();
  fake_.emit(kernel(SteadyClock().now_ns()));
  const pid_t child = ::fork();
  if (child == 0) {
    Recorder::forget_after_fork();
    recorder.pause();  // nobody is waited for
    recorder.end();
    ::_exit(fake_.enabled().empty() ? 1 : 7);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  recorder.end();
  EXPECT_EQ(read().kernels.size(), 1);
}

}  // namespace
}  // namespace unstarve::recording
