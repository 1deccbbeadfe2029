#include "observe/profiled/profiled_window.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace unstarve::observe {
namespace {

using trace::Timeline;

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kOffsetNs = 7'000'000'000;  // of the run's clock against the trace's

// Two steps of 100 us at 1000 us; a kernel runs behind its launch.
constexpr const char* kTrace = R"({"traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#11", "pid": 5, "tid": 77,
  "ts": 1000.0, "dur": 100.0},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "pid": 5, "tid": 77,
  "ts": 1100.0, "dur": 100.5},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 77,
  "ts": 1010.0, "dur": 5.0, "args": {"correlation": 3}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
  "ts": 1020.0, "dur": 60.0, "args": {"correlation": 3, "device": 0, "stream": 7}}]})";

class ProfiledWindow : public testing::Test {
 protected:
  ProfiledWindow() : path_(testing::TempDir() + "kineto-" + std::to_string(::getpid()) + ".json") {
    write(kTrace);
    for (std::int64_t step = 11; step <= 12; ++step) {
      const std::int64_t begun = kOffsetNs + (1000 + (step - 11) * 100) * kUs;
      profile_.marks.push_back({step, begun - 2 * kUs, begun + 2 * kUs});
      trace::Step recorded;
      recorded.when = {begun, begun + 100 * kUs};
      recorded.index = step;
      recorded.process = 4242;
      recorded.thread = 4243;
      run_.steps.push_back(recorded);
    }
    profile_.interruption = {kOffsetNs + 1300 * kUs, kOffsetNs + 1400 * kUs};
  }
  ~ProfiledWindow() override { ::unlink(path_.c_str()); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  Status add(std::int64_t process = 4242) {
    return add_profiled_window(path_, process, profile_, run_);
  }

  std::string path_;
  trace::ProfileText profile_;
  Timeline run_;
};

TEST_F(ProfiledWindow, ItsOperationsAndCallsAreOnTheRunsClock) {
  EXPECT_FALSE(has_device_activity(run_, 4242));
  const Status added = add();
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(run_.device_ops.size(), 1U);
  EXPECT_NEAR(static_cast<double>(run_.device_ops[0].start_ns),
              static_cast<double>(kOffsetNs + 1020 * kUs), 3 * kUs);
  EXPECT_EQ(run_.name_of(run_.device_ops[0].name), "gemm");
  ASSERT_EQ(run_.host_calls.size(), 1U);
  EXPECT_EQ(run_.host_calls[0].process, 4242);
  EXPECT_EQ(run_.host_calls[0].thread, 4243) << "the thread that the hook's steps are on";
  EXPECT_EQ(run_.host_calls[0].correlation, run_.device_ops[0].correlation);
  EXPECT_EQ(run_.steps.size(), 2U) << "the trace's own are left out";
  ASSERT_EQ(run_.windows.size(), 1U);
  EXPECT_EQ(run_.windows[0].process, 4242);
  EXPECT_NEAR(static_cast<double>(run_.windows[0].when.duration_ns()), 200.5 * kUs, 1);
  EXPECT_LE(run_.windows[0].clock_error_ns, 3 * kUs);
  EXPECT_EQ(run_.windows[0].interruption.duration_ns(), 100 * kUs);
  EXPECT_TRUE(has_device_activity(run_, 4242));
  EXPECT_FALSE(has_device_activity(run_, 4244));
}

TEST_F(ProfiledWindow, EachRankHasADeviceOfItsOwn) {
  ASSERT_TRUE(add(4242));
  ASSERT_TRUE(add(4250));
  ASSERT_EQ(run_.device_ops.size(), 2U);
  EXPECT_NE(run_.device_ops[0].device, run_.device_ops[1].device);
  EXPECT_NE(run_.device_ops[0].correlation, run_.device_ops[1].correlation);
  EXPECT_EQ(run_.windows.size(), 2U);
  EXPECT_EQ(run_.devices.size(), 2U);
}

TEST_F(ProfiledWindow, WithoutAlignedClocksTheRunStaysAsItWas) {
  profile_.marks.clear();
  EXPECT_FALSE(add());
  profile_.marks.push_back({11, kOffsetNs, kOffsetNs + 20'000 * kUs});
  EXPECT_FALSE(add()) << "20 ms are more than a step";
  EXPECT_TRUE(run_.device_ops.empty());
  EXPECT_TRUE(run_.windows.empty());
}

TEST_F(ProfiledWindow, ATraceThatIsNoneOrHoldsNoGpuIsAnError) {
  write("{\"traceEvents\": [");
  EXPECT_FALSE(add());
  write("{\"traceEvents\": []}");
  EXPECT_FALSE(add());
  path_ += ".gone";
  EXPECT_FALSE(add());
  EXPECT_TRUE(run_.windows.empty());
}

}  // namespace
}  // namespace unstarve::observe
