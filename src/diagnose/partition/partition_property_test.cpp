// The sweep against a painter that asks, for every single nanosecond of a small random timeline,
// what docs/partition.md says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "diagnose/partition/partition.h"

namespace unstarve::diagnose {
namespace {

using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::HostCall;
using trace::HostCallKind;
using trace::Interval;
using trace::Timeline;

bool covers(const Interval& when, std::int64_t t) { return when.start_ns <= t && t < when.end_ns; }

class RandomTimeline {
 public:
  explicit RandomTimeline(unsigned seed) : random_(seed) {}

  Timeline make() {
    Timeline timeline;
    if (pick(0, 9) > 0) add_steps(timeline);
    for (std::int64_t thread = 1; thread <= 3; ++thread) add_thread(timeline, thread);
    add_waits(timeline, 1);
    if (pick(0, 3) == 0) add_waits(timeline, 2);
    const std::int64_t unlaunched = pick(0, 4);
    for (std::int64_t i = 0; i < unlaunched; ++i) add_op(timeline, trace::kNoCorrelation, 0);
    sort_by_start(timeline);
    return timeline;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  void add_steps(Timeline& timeline) {
    std::int64_t at = pick(0, 40);
    for (std::int64_t i = pick(1, 3); i > 0; --i) {
      trace::Step step;
      step.when = {at, at + pick(20, 80)};
      step.thread = 1;
      step.process = 1;
      at = step.when.end_ns;
      timeline.steps.push_back(step);
    }
  }

  // Calls of one thread follow one another; some put work on the device.
  void add_thread(Timeline& timeline, std::int64_t thread) {
    std::int64_t at = pick(0, 30);
    for (std::int64_t i = pick(0, 12); i > 0; --i) {
      HostCall call;
      call.start_ns = at + pick(0, 15);
      call.end_ns = call.start_ns + pick(0, 20);
      call.thread = thread;
      call.process = 1;
      at = call.end_ns + 1;
      call.kind = pick(0, 2) == 0 ? HostCallKind::kSync : HostCallKind::kLaunch;
      call.correlation = ++correlation_;
      timeline.host_calls.push_back(call);
      if (call.kind == HostCallKind::kLaunch) add_op(timeline, correlation_, call.start_ns);
    }
  }

  void add_op(Timeline& timeline, std::int64_t correlation, std::int64_t not_before) {
    DeviceOp op;
    op.start_ns = not_before + pick(0, 40);
    op.end_ns = op.start_ns + pick(0, 12);
    op.kind = static_cast<DeviceOpKind>(pick(0, 3));
    op.correlation = correlation;
    op.stream = static_cast<std::int32_t>(pick(0, 3));
    timeline.device_ops.push_back(op);
  }

  void add_waits(Timeline& timeline, std::int64_t thread) {
    std::int64_t at = pick(0, 40);
    for (std::int64_t i = pick(0, 3); i > 0; --i) {
      trace::LoaderWait wait;
      wait.when = {at, at + pick(0, 25)};
      wait.thread = thread;
      wait.process = 1;
      at = wait.when.end_ns + pick(0, 40);
      timeline.loader_waits.push_back(wait);
    }
  }

  std::mt19937 random_;
  std::int64_t correlation_ = 0;
};

class Painter {
 public:
  Painter(const Timeline& timeline, const PartitionOptions& options)
      : timeline_(timeline), options_(options) {
    for (const HostCall& call : timeline.host_calls) calls_[call.correlation] = &call;
    find_span();
    find_training_threads();
    for (const HostCall& call : timeline.host_calls) {
      if (is_blocking(call)) blocking_.push_back(&call);
    }
  }

  std::array<std::int64_t, kCauseCount> paint() const {
    std::array<std::int64_t, kCauseCount> ns{};
    for (std::int64_t t = span_.start_ns; t < span_.end_ns; ++t) {
      ++ns[static_cast<std::size_t>(cause_at(t))];
    }
    return ns;
  }
  Interval span() const { return span_; }

 private:
  void find_span() {
    span_ = {1 << 30, -(1 << 30)};
    const auto widen = [this](std::int64_t start, std::int64_t end) {
      span_ = {std::min(span_.start_ns, start), std::max(span_.end_ns, end)};
    };
    for (const auto& step : timeline_.steps) widen(step.when.start_ns, step.when.end_ns);
    if (!timeline_.steps.empty()) return;
    for (const auto& op : timeline_.device_ops) widen(op.start_ns, op.end_ns);
  }

  void find_training_threads() {
    if (!timeline_.steps.empty()) {
      training_ = {1};
      return;
    }
    std::map<std::int64_t, int> launches;
    for (const auto& op : timeline_.device_ops) {
      if (const HostCall* call = launch_of(op)) ++launches[call->thread];
    }
    int most = 0;
    for (const auto& [thread, count] : launches) {
      if (count > most) training_ = {thread};
      most = std::max(most, count);
    }
  }

  const HostCall* launch_of(const DeviceOp& op) const {
    const auto found = calls_.find(op.correlation);
    return op.correlation == trace::kNoCorrelation || found == calls_.end() ? nullptr
                                                                            : found->second;
  }

  bool is_blocking(const HostCall& call) const {
    if (call.kind == HostCallKind::kSync) return true;
    return std::any_of(timeline_.device_ops.begin(), timeline_.device_ops.end(),
                       [&](const DeviceOp& op) {
                         return op.kind == DeviceOpKind::kCopy &&
                                op.correlation == call.correlation && call.end_ns >= op.end_ns;
                       });
  }

  bool has_length(const DeviceOp& op) const {
    return std::min(op.end_ns, span_.end_ns) > std::max(op.start_ns, span_.start_ns);
  }
  bool runs(std::int64_t t) const {
    return std::any_of(timeline_.device_ops.begin(), timeline_.device_ops.end(),
                       [t](const DeviceOp& op) {
                         return covers({op.start_ns, op.end_ns}, t);
                       });
  }

  Cause cause_at(std::int64_t t) const {
    bool communicates = false;
    bool copies = false;
    for (const DeviceOp& op : timeline_.device_ops) {
      if (!covers({op.start_ns, op.end_ns}, t)) continue;
      if (op.kind == DeviceOpKind::kCompute || op.kind == DeviceOpKind::kMemset) {
        return Cause::kGpuCompute;
      }
      communicates |= op.kind == DeviceOpKind::kCommunication;
      copies |= op.kind == DeviceOpKind::kCopy;
    }
    if (communicates) return Cause::kExposedCommunication;
    if (copies) return Cause::kExposedCopy;
    if (in_loader(t)) return Cause::kInputWait;
    return idle_cause(t);
  }

  bool in_loader(std::int64_t t) const {
    return std::any_of(timeline_.loader_waits.begin(), timeline_.loader_waits.end(),
                       [&](const trace::LoaderWait& wait) {
                         const bool trains = timeline_.steps.empty() || wait.thread == 1;
                         return trains && covers(wait.when, t);
                       });
  }

  Cause idle_cause(std::int64_t t) const {
    std::int64_t g0 = t;
    while (g0 > span_.start_ns && !runs(g0 - 1)) --g0;
    std::int64_t g1 = t;
    while (g1 < span_.end_ns && !runs(g1)) ++g1;
    if (g1 == span_.end_ns) return tail_cause(t);
    const DeviceOp* op = nullptr;
    for (const DeviceOp& candidate : timeline_.device_ops) {
      if (op == nullptr && candidate.start_ns == g1 && has_length(candidate)) op = &candidate;
    }
    const HostCall* launch = launch_of(*op);
    if (launch == nullptr) return Cause::kOther;
    if (launch->start_ns < g0) {
      return g1 - g0 <= options_.kernel_wait_max_ns ? Cause::kKernelWait : Cause::kOther;
    }
    if (op == &timeline_.device_ops.front() && op->kind == DeviceOpKind::kCopy &&
        g1 - launch->start_ns > options_.head_wait_min_ns) {
      return Cause::kOther;
    }
    const std::int64_t returned = std::max(launch->end_ns, g0);
    if (g1 - returned > options_.late_start_min_ns && t >= returned) return Cause::kOther;
    for (const HostCall* call : blocking_) {
      if (!concerns(*call, *launch)) continue;
      if (call->start_ns <= g0 && g0 <= call->end_ns && call->end_ns <= launch->start_ns) {
        return Cause::kSync;
      }
    }
    return Cause::kLaunch;
  }

  bool concerns(const HostCall& call, const HostCall& launch) const {
    return call.thread == launch.thread ||
           std::find(training_.begin(), training_.end(), call.thread) != training_.end();
  }

  Cause tail_cause(std::int64_t t) const {
    const HostCall* launch = nullptr;
    for (const DeviceOp& op : timeline_.device_ops) {
      if (has_length(op)) launch = launch_of(op);
    }
    HostCall nobody;
    nobody.thread = -1;
    for (const HostCall* call : blocking_) {
      if (!concerns(*call, launch == nullptr ? nobody : *launch)) continue;
      if (covers({call->start_ns, call->end_ns}, t)) return Cause::kSync;
    }
    return Cause::kOther;
  }

  const Timeline& timeline_;
  const PartitionOptions& options_;
  Interval span_;
  std::vector<std::int64_t> training_;
  std::map<std::int64_t, const HostCall*> calls_;
  std::vector<const HostCall*> blocking_;
};

TEST(PartitionProperty, AgreesWithAPainterOfNanoseconds) {
  const PartitionOptions options = {
      .kernel_wait_max_ns = 6, .late_start_min_ns = 8, .head_wait_min_ns = 12};
  std::array<std::int64_t, kCauseCount> seen{};
  for (unsigned seed = 0; seed < 800; ++seed) {
    const Timeline timeline = RandomTimeline(seed).make();
    const auto all = partition_devices(job::JobView(timeline), options);
    const Painter painter(timeline, options);
    if (all.empty()) {
      EXPECT_TRUE(timeline.device_ops.empty() || painter.span().duration_ns() <= 0) << seed;
      continue;
    }
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].ns, painter.paint()) << "seed " << seed;
    double shares = 0;
    for (const Cause cause : kAllCauses) {
      shares += all[0].share(cause);
      seen[static_cast<std::size_t>(cause)] += all[0].of(cause);
    }
    EXPECT_NEAR(shares, 1.0, 1e-9) << "seed " << seed;
  }
  for (const Cause cause : kAllCauses) {
    EXPECT_GT(seen[static_cast<std::size_t>(cause)], 0) << to_string(cause);
  }
}

// Many operations with waits and synchronisations: quadratic work would take hours.
TEST(PartitionProperty, MillionsOfOperationsAreASweep) {
  Timeline timeline;
  constexpr std::int64_t kOps = 300'000;
  for (std::int64_t i = 0; i < kOps; ++i) {
    const std::int64_t at = i * 100;
    HostCall call;
    call.start_ns = at;
    call.end_ns = at + 10;
    call.correlation = i;
    call.kind = i % 10 == 0 ? HostCallKind::kSync : HostCallKind::kLaunch;
    timeline.host_calls.push_back(call);
    DeviceOp op;
    op.start_ns = at + 20;
    op.end_ns = at + 80;
    op.correlation = i;
    timeline.device_ops.push_back(op);
    if (i % 50 == 0) {
      trace::LoaderWait wait;
      wait.when = {at + 80, at + 90};
      timeline.loader_waits.push_back(wait);
    }
  }
  const auto all = partition_devices(job::JobView(timeline), {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].of(Cause::kGpuCompute), kOps * 60);
  EXPECT_EQ(all[0].of(Cause::kInputWait), kOps / 50 * 10);
}

}  // namespace
}  // namespace unstarve::diagnose
