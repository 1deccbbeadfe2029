#include "job/rank/host_index.h"

#include <algorithm>
#include <iterator>

namespace unstarve::job {

namespace {

ThreadKey key_of(const trace::HostCall& call) { return {call.process, call.thread}; }

// Drops what lies inside an earlier call: a copy that synchronises inside itself is one wait.
void keep_outermost(BlockingCalls& calls) {
  std::sort(calls.begin(), calls.end(), [](const trace::Interval& a, const trace::Interval& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::size_t kept = 0;
  for (const trace::Interval& call : calls) {
    if (kept > 0 && call.end_ns <= calls[kept - 1].end_ns) continue;
    calls[kept++] = call;
  }
  calls.resize(kept);
}

}  // namespace

HostIndex::HostIndex(const trace::Timeline& timeline) : timeline_(timeline) {
  index_launches();
  index_operations();
  index_blocking_calls();
}

void HostIndex::index_launches() {
  const auto& calls = timeline_.host_calls;
  launches_.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].correlation == trace::kNoCorrelation) continue;
    launches_.push_back({calls[i].correlation, calls[i].start_ns, static_cast<std::uint32_t>(i)});
  }
  std::sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.call < b.call;
  });
}

void HostIndex::index_operations() {
  op_correlations_.reserve(timeline_.device_ops.size());
  for (const trace::DeviceOp& op : timeline_.device_ops) op_correlations_.push_back(op.correlation);
  std::sort(op_correlations_.begin(), op_correlations_.end());
}

void HostIndex::index_blocking_calls() {
  for (const trace::HostCall& call : timeline_.host_calls) {
    if (call.kind == trace::HostCallKind::kSync) {
      blocking_[key_of(call)].push_back({call.start_ns, call.end_ns});
    }
  }
  for (const trace::DeviceOp& op : timeline_.device_ops) {
    if (op.kind != trace::DeviceOpKind::kCopy) continue;
    const trace::HostCall* launch = launch_of(op);
    if (launch != nullptr && launch->end_ns >= op.end_ns) {
      blocking_[key_of(*launch)].push_back({launch->start_ns, launch->end_ns});
    }
  }
  for (auto& [thread, calls] : blocking_) keep_outermost(calls);
}

const trace::HostCall* HostIndex::launch_of(const trace::DeviceOp& op) const {
  if (op.correlation == trace::kNoCorrelation) return nullptr;
  const auto after =
      std::partition_point(launches_.begin(), launches_.end(), [&op](const Launch& launch) {
        return launch.correlation != op.correlation ? launch.correlation < op.correlation
                                                    : launch.start_ns <= op.start_ns;
      });
  if (after != launches_.begin() && std::prev(after)->correlation == op.correlation) {
    return &timeline_.host_calls[std::prev(after)->call];
  }
  // Host and device clocks are merged with an error, so a launch may seem to begin after its work.
  if (after != launches_.end() && after->correlation == op.correlation) {
    return &timeline_.host_calls[after->call];
  }
  return nullptr;
}

bool HostIndex::has_operation(std::int64_t correlation) const {
  return std::binary_search(op_correlations_.begin(), op_correlations_.end(), correlation);
}

const BlockingCalls& HostIndex::blocking_calls(ThreadKey thread) const {
  static const BlockingCalls kNone;
  const auto found = blocking_.find(thread);
  return found == blocking_.end() ? kNone : found->second;
}

BlockingCalls::const_iterator first_ending_after(const BlockingCalls& calls, std::int64_t instant) {
  return std::upper_bound(
      calls.begin(), calls.end(), instant,
      [](std::int64_t t, const trace::Interval& call) { return t < call.end_ns; });
}

std::optional<std::int64_t> blocked_over(const BlockingCalls& calls, std::int64_t instant,
                                         std::int64_t deadline) {
  const auto first =
      std::lower_bound(calls.begin(), calls.end(), instant,
                       [](const trace::Interval& call, std::int64_t t) { return call.end_ns < t; });
  if (first == calls.end() || first->start_ns > instant || first->end_ns > deadline) return {};
  return first->end_ns;
}

}  // namespace unstarve::job
