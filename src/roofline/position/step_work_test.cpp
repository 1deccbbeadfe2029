#include "roofline/position/step_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace unstarve::roofline {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kProcess = 7;
constexpr std::int64_t kLoader = 3;
constexpr int kSteps = 11;

/// Steps of 10 ms in process 7, the first of which is warm-up. Each launches 2 kernels one by one
/// and 3 by a graph, which keep the device busy for `kernel_ms` each, and copies 1000 bytes to the
/// device; each has a fetch of 6 ms of CPU time.
class Recorded {
 public:
  explicit Recorded(std::int64_t kernel_ms) {
    timeline_.input = trace::InputKind::kRun;
    trace::NameTable names(timeline_);
    const trace::NameId launch = names.intern("cudaLaunchKernel");
    const trace::NameId graph = names.intern("cudaGraphLaunch");
    const trace::NameId copy = names.intern("cudaMemcpyAsync");
    std::int64_t device_ns = 0;
    for (int i = 0; i < kSteps; ++i) {
      const std::int64_t start_ns = i * 10 * kMs;
      add_step(i, start_ns);
      add_op(copy, start_ns + kMs, {start_ns + kMs, start_ns + kMs + 1}, DeviceOpKind::kCopy);
      device_ns = std::max(device_ns, start_ns + kMs);
      for (int kernel = 0; kernel < 5; ++kernel) {
        const trace::Interval ran = {device_ns, device_ns + kernel_ms * kMs};
        // The three of the graph share its launch.
        if (kernel > 2) --correlation_;
        add_op(kernel < 2 ? launch : graph, start_ns + kMs / 2, ran, DeviceOpKind::kCompute);
        device_ns = ran.end_ns;
      }
    }
    trace::sort_by_start(timeline_);
  }

  StepWork work(std::optional<std::int32_t> device = 0) const {
    const job::JobView job(timeline_);
    return step_work({job, 0, device});
  }

 private:
  void add_step(int index, std::int64_t start_ns) {
    trace::Step step;
    step.when = {start_ns, start_ns + 10 * kMs};
    step.index = index;
    step.thread = kProcess;
    step.process = kProcess;
    timeline_.steps.push_back(step);
    trace::LoaderWait wait;
    wait.when = {start_ns, start_ns + 1};
    wait.thread = kProcess;
    wait.process = kProcess;
    wait.loader_id = kLoader;
    timeline_.loader_waits.push_back(wait);
    trace::Fetch fetch;
    fetch.when = {start_ns + 1, start_ns + 8 * kMs};
    fetch.process = kProcess;
    fetch.loader_id = kLoader;
    fetch.cpu_ns = 6 * kMs;
    timeline_.fetches.push_back(fetch);
  }

  void add_op(trace::NameId call, std::int64_t called_ns, const trace::Interval& ran,
              DeviceOpKind kind) {
    ++correlation_;
    trace::HostCall host;
    host.start_ns = called_ns;
    host.end_ns = called_ns + 1;
    host.correlation = correlation_;
    host.thread = kProcess;
    host.process = kProcess;
    host.name = call;
    host.kind = trace::HostCallKind::kLaunch;
    if (timeline_.host_calls.empty() || timeline_.host_calls.back().correlation != correlation_) {
      timeline_.host_calls.push_back(host);
    }
    trace::DeviceOp op;
    op.start_ns = ran.start_ns;
    op.end_ns = ran.end_ns;
    op.correlation = correlation_;
    op.kind = kind;
    if (kind == DeviceOpKind::kCopy) {
      op.bytes = 1000;
      op.direction = CopyDirection::kHostToDevice;
      op.stream = 1;
    }
    timeline_.device_ops.push_back(op);
  }

  trace::Timeline timeline_;
  std::int64_t correlation_ = 0;
};

TEST(StepWork, IsTheMeanOfTheStepsBehindTheWarmUp) {
  const StepWork work = Recorded(1).work();
  EXPECT_DOUBLE_EQ(work.step_s.value_or(0), 0.010);
  EXPECT_DOUBLE_EQ(work.launches.value_or(0), 2);
  EXPECT_DOUBLE_EQ(work.graph_nodes.value_or(0), 3);
  EXPECT_DOUBLE_EQ(work.h2d_bytes.value_or(0), 1000);
  EXPECT_DOUBLE_EQ(work.loader_cpu_s.value_or(0), 0.006);
  EXPECT_NEAR(work.device_s.value_or(0), 0.005, 1e-6);
}

TEST(StepWork, OfAHostThatRunsAheadTheDevicesWorkBehindTheLastStepCounts) {
  // 20 ms of work a step, whose last is done 110 ms after the last step.
  const StepWork work = Recorded(4).work();
  EXPECT_DOUBLE_EQ(work.step_s.value_or(0), 0.010);
  EXPECT_NEAR(work.device_s.value_or(0), 0.020, 1e-6);
  EXPECT_DOUBLE_EQ(work.launches.value_or(0), 2);
}

TEST(StepWork, WithoutADeviceItsWorkIsAbsent) {
  const StepWork work = Recorded(1).work(std::nullopt);
  EXPECT_TRUE(work.step_s);
  EXPECT_TRUE(work.loader_cpu_s);
  EXPECT_FALSE(work.h2d_bytes);
  EXPECT_FALSE(work.launches);
  EXPECT_FALSE(work.device_s);
}

}  // namespace
}  // namespace unstarve::roofline
