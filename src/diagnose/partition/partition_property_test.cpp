// The sweep against a painter that asks, for every single nanosecond of a small random timeline,
// what docs/partition.md says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "diagnose/partition/partition.h"
#include "diagnose/testing/random_timeline.h"

namespace unstarve::diagnose {
namespace {

using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::HostCall;
using trace::HostCallKind;
using trace::Interval;
using trace::Timeline;

bool covers(const Interval& when, std::int64_t t) { return when.start_ns <= t && t < when.end_ns; }

class Painter {
 public:
  Painter(const Timeline& timeline, const PartitionOptions& options)
      : timeline_(timeline), options_(options) {
    for (const HostCall& call : timeline.host_calls) calls_[call.correlation] = &call;
    find_span();
    find_parts();
    find_training_threads();
    for (const HostCall& call : timeline.host_calls) {
      if (is_blocking(call)) blocking_.push_back(&call);
    }
  }

  std::array<std::int64_t, kCauseCount> paint() const {
    std::array<std::int64_t, kCauseCount> ns{};
    for (const Part& part : parts_) {
      for (std::int64_t t = part.when.start_ns; t < part.when.end_ns; ++t) {
        ++ns[static_cast<std::size_t>(cause_at(t, part))];
      }
    }
    return ns;
  }
  std::int64_t recorded_ns() const {
    std::int64_t all_ns = 0;
    for (const Part& part : parts_) all_ns += part.when.duration_ns();
    return all_ns;
  }

 private:
  struct Part {
    Interval when;
    std::int64_t recorded_from = 0;
  };
  struct Gap {
    Interval when;
    const DeviceOp* first = nullptr;  // that ends it; nullptr: the part ends
    bool head = false;                // nothing was recorded before it
  };

  // A nanosecond belongs to a part as long as some window holds it.
  void find_parts() {
    if (timeline_.windows.empty()) {
      if (span_.duration_ns() > 0) parts_.push_back({span_, -(1 << 30)});
      return;
    }
    const auto recorded = [&](std::int64_t t) {
      return std::any_of(timeline_.windows.begin(), timeline_.windows.end(),
                         [t](const trace::RecordedWindow& w) { return covers(w.when, t); });
    };
    for (std::int64_t t = span_.start_ns; t < span_.end_ns; ++t) {
      if (!recorded(t)) continue;
      std::int64_t from = t;
      while (recorded(from - 1)) --from;
      const std::int64_t start = t;
      while (t < span_.end_ns && recorded(t)) ++t;
      parts_.push_back({{start, t}, from});
    }
  }

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

  static bool has_length(const DeviceOp& op, const Part& part) {
    return std::min(op.end_ns, part.when.end_ns) > std::max(op.start_ns, part.when.start_ns);
  }
  bool runs(std::int64_t t) const {
    return std::any_of(timeline_.device_ops.begin(), timeline_.device_ops.end(),
                       [t](const DeviceOp& op) {
                         return covers({op.start_ns, op.end_ns}, t);
                       });
  }

  Cause cause_at(std::int64_t t, const Part& part) const {
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
    Gap gap = gap_at(t, part);
    if (t >= tail_busy_from(gap, part)) return Cause::kGpuCompute;
    const std::int64_t head_end = head_busy_until(gap, part);
    if (t < head_end) return Cause::kGpuCompute;
    gap.when.start_ns = std::max(gap.when.start_ns, head_end);
    if (in_loader(t)) return Cause::kInputWait;
    if (in_host_work(t)) return Cause::kLaunch;
    return gap.first == nullptr ? tail_cause(t, part) : idle_cause(t, gap);
  }

  Gap gap_at(std::int64_t t, const Part& part) const {
    Gap gap;
    gap.when = {t, t};
    while (gap.when.start_ns > part.when.start_ns && !runs(gap.when.start_ns - 1)) {
      --gap.when.start_ns;
    }
    while (gap.when.end_ns < part.when.end_ns && !runs(gap.when.end_ns)) ++gap.when.end_ns;
    const DeviceOp* first_of_all = nullptr;
    for (const DeviceOp& op : timeline_.device_ops) {
      if (op.start_ns < part.recorded_from || op.start_ns >= part.when.end_ns) continue;
      if (op.end_ns == op.start_ns) continue;
      if (first_of_all == nullptr) first_of_all = &op;
      if (gap.when.end_ns == part.when.end_ns) continue;
      if (gap.first == nullptr && op.start_ns == gap.when.end_ns && has_length(op, part)) {
        gap.first = &op;
      }
    }
    gap.head = gap.first == first_of_all;
    return gap;
  }

  std::int64_t head_busy_until(const Gap& gap, const Part& part) const {
    if (!gap.head) return gap.when.start_ns;
    std::int64_t before = gap.first == nullptr ? tail_busy_from(gap, part) : gap.when.end_ns;
    const DeviceOp* first = gap.first;
    if (first == nullptr) {
      const auto& ops = timeline_.device_ops;
      const auto next = std::find_if(ops.begin(), ops.end(), [&part](const DeviceOp& op) {
        return op.start_ns >= part.when.end_ns && op.end_ns > op.start_ns;
      });
      const HostCall* launch = next == ops.end() ? nullptr : launch_of(*next);
      if (launch != nullptr && launch->start_ns < before) first = &*next;
    }
    if (first != nullptr) {
      const HostCall* launch = launch_of(*first);
      if (launch == nullptr || launch->start_ns < gap.when.start_ns) return gap.when.start_ns;
      before = launch->start_ns;
      const bool copies = first->kind == DeviceOpKind::kCopy;
      const std::int64_t since = copies ? launch->start_ns : launch->end_ns;
      if (first->start_ns > since + options_.head_wait_min_ns) return gap.when.end_ns;
    }
    std::int64_t until = gap.when.start_ns;
    for (const HostCall* call : blocking_) {
      const bool waits =
          launches_here(call->thread) ||
          std::find(training_.begin(), training_.end(), call->thread) != training_.end();
      if (!waits || call->start_ns >= before) continue;
      const std::int64_t end = std::min(call->end_ns, before);
      const std::int64_t waited = end - std::max(call->start_ns, gap.when.start_ns);
      if (waited > options_.head_wait_min_ns) until = std::max(until, end);
    }
    return until;
  }

  std::int64_t tail_busy_from(const Gap& gap, const Part& part) const {
    const std::int64_t never = part.when.end_ns;
    if (gap.when.end_ns != part.when.end_ns || timeline_.events_lost > 0) return never;
    std::int64_t longest_way = 0;
    const DeviceOp* last = nullptr;
    for (const DeviceOp& op : timeline_.device_ops) {
      if (has_length(op, part)) last = &op;
      const HostCall* launch = launch_of(op);
      if (launch != nullptr) longest_way = std::max(longest_way, op.end_ns - launch->start_ns);
    }
    if (last != nullptr && launch_of(*last) == nullptr) return never;
    std::int64_t launched = never;
    for (const HostCall& call : timeline_.host_calls) {
      if (call.kind != HostCallKind::kLaunch || !launches_here(call.thread)) continue;
      if (call.start_ns < part.recorded_from || call.end_ns >= never) continue;
      if (last != nullptr && call.start_ns <= launch_of(*last)->start_ns) continue;
      const bool ran =
          std::any_of(timeline_.device_ops.begin(), timeline_.device_ops.end(),
                      [&call](const DeviceOp& op) { return op.correlation == call.correlation; });
      if (!ran) launched = std::min(launched, call.start_ns);
    }
    if (never - launched > 2 * longest_way) return never;
    return std::max(launched, gap.when.start_ns);
  }

  bool launches_here(std::int64_t thread) const {
    return std::any_of(timeline_.device_ops.begin(), timeline_.device_ops.end(),
                       [&](const DeviceOp& op) {
                         const HostCall* launch = launch_of(op);
                         return launch != nullptr && launch->thread == thread;
                       });
  }

  bool in_loader(std::int64_t t) const {
    return std::any_of(timeline_.loader_waits.begin(), timeline_.loader_waits.end(),
                       [&](const trace::LoaderWait& wait) {
                         const bool trains = timeline_.steps.empty() || wait.thread == 1;
                         return trains && covers(wait.when, t);
                       });
  }

  bool in_host_work(std::int64_t t) const {
    return std::any_of(
        timeline_.host_work.begin(), timeline_.host_work.end(), [&](const trace::HostWork& work) {
          const bool trains =
              std::find(training_.begin(), training_.end(), work.thread) != training_.end();
          const bool collects = work.kind == trace::HostWorkKind::kCollection;
          return (trains || collects) && covers(work.when, t);
        });
  }

  Cause idle_cause(std::int64_t t, const Gap& gap) const {
    const std::int64_t g0 = gap.when.start_ns;
    const std::int64_t g1 = gap.when.end_ns;
    const HostCall* launch = launch_of(*gap.first);
    if (launch == nullptr) return Cause::kOther;
    if (launch->start_ns < g0) {
      if (gap.first->start_ns - launch->start_ns <= options_.launch_way_max_ns) {
        return Cause::kLaunch;
      }
      return g1 - g0 <= options_.kernel_wait_max_ns ? Cause::kKernelWait : Cause::kOther;
    }
    const std::int64_t returned = std::max(launch->end_ns, g0);
    if (g1 - returned > options_.late_start_min_ns && t >= returned) return Cause::kOther;
    std::int64_t until = -1;
    for (const HostCall* call : blocking_) {
      if (!concerns(*call, *launch)) continue;
      if (call->start_ns <= g0 && g0 <= call->end_ns && call->end_ns <= launch->start_ns) {
        until = std::max(until, call->end_ns);
      }
    }
    if (until < 0) return Cause::kLaunch;
    std::int64_t worked = 0;
    for (std::int64_t at = until; at < launch->start_ns; ++at) worked += in_loader(at) ? 0 : 1;
    return t >= until && worked > hidden_ns() ? Cause::kLaunch : Cause::kSync;
  }

  std::int64_t hidden_ns() const {
    double steps = 0;
    for (const auto& step : timeline_.steps) {
      double inside = 0;
      for (const Part& part : parts_) {
        for (std::int64_t t = part.when.start_ns; t < part.when.end_ns; ++t) {
          inside += covers(step.when, t) ? 1 : 0;
        }
      }
      steps += inside / static_cast<double>(step.when.duration_ns());
    }
    if (steps <= 0) return 1 << 30;
    double device = 0;
    for (const DeviceOp& op : timeline_.device_ops) {
      const bool recorded = std::any_of(parts_.begin(), parts_.end(), [&op](const Part& part) {
        return covers(part.when, op.start_ns);
      });
      if (recorded) device += static_cast<double>(op.end_ns - op.start_ns);
    }
    return std::max(options_.host_work_min_ns, static_cast<std::int64_t>(2 * device / steps));
  }

  bool concerns(const HostCall& call, const HostCall& launch) const {
    return call.thread == launch.thread ||
           std::find(training_.begin(), training_.end(), call.thread) != training_.end();
  }

  Cause tail_cause(std::int64_t t, const Part& part) const {
    const HostCall* launch = nullptr;
    for (const DeviceOp& op : timeline_.device_ops) {
      if (has_length(op, part)) launch = launch_of(op);
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
  std::vector<Part> parts_;
  std::vector<std::int64_t> training_;
  std::map<std::int64_t, const HostCall*> calls_;
  std::vector<const HostCall*> blocking_;
};

TEST(PartitionProperty, AgreesWithAPainterOfNanoseconds) {
  const PartitionOptions options = {.kernel_wait_max_ns = 6,
                                    .launch_way_max_ns = 3,
                                    .late_start_min_ns = 8,
                                    .host_work_min_ns = 5,
                                    .head_wait_min_ns = 12};
  std::array<std::int64_t, kCauseCount> seen{};
  std::int64_t edge_busy_ns = 0;
  for (unsigned seed = 0; seed < 800; ++seed) {
    const Timeline timeline = RandomTimeline(seed).make();
    if (job::JobView(timeline).set_aside()) continue;
    const auto all = partition_devices(job::JobView(timeline), options);
    const Painter painter(timeline, options);
    if (all.empty()) {
      EXPECT_TRUE(timeline.device_ops.empty() || painter.recorded_ns() <= 0) << seed;
      continue;
    }
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].ns, painter.paint()) << "seed " << seed;
    EXPECT_EQ(all[0].recorded_ns, painter.recorded_ns()) << "seed " << seed;
    edge_busy_ns += all[0].edge_busy_ns;
    double shares = 0;
    for (const Cause cause : kAllCauses) {
      shares += all[0].share(cause);
      seen[static_cast<std::size_t>(cause)] += all[0].of(cause);
    }
    EXPECT_NEAR(shares, 1.0, 1e-9) << "seed " << seed;
  }
  for (const Cause cause : kAllCauses)
    EXPECT_GT(seen[static_cast<std::size_t>(cause)], 0) << to_string(cause);
  EXPECT_GT(edge_busy_ns, 0);
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
    if (i % 50 == 0) timeline.loader_waits.emplace_back().when = {at + 80, at + 90};
  }
  const auto all = partition_devices(job::JobView(timeline), {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].of(Cause::kGpuCompute), kOps * 60);
  EXPECT_EQ(all[0].of(Cause::kInputWait), kOps / 50 * 10);
}

}  // namespace
}  // namespace unstarve::diagnose
