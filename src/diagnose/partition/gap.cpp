#include "diagnose/partition/gap.h"

#include <algorithm>

namespace unstarve::diagnose {

using job::ThreadKey;

GapAttributor::GapAttributor(const job::HostIndex& host, const job::Rank& rank,
                             const PartitionOptions& options, DevicePartition& out)
    : host_(host), rank_(rank), options_(options), out_(out) {}

void GapAttributor::before(const trace::DeviceOp& op, trace::Interval gap, bool first_recorded) {
  ++out_.gaps;
  const std::int64_t other_ns = out_.of(Cause::kOther);
  give(gap, classify(op, gap, first_recorded));
  if (first_recorded) out_.edge_other_ns += out_.of(Cause::kOther) - other_ns;
}

void GapAttributor::tail(const trace::DeviceOp* last, trace::Interval gap) {
  // The host may wait in the training thread or in the one that launched last; both at once count
  // once, so their calls are merged before the gap is cut along them.
  std::vector<trace::Interval> blocked;
  const auto collect = [&](ThreadKey thread) {
    for (const trace::Interval& call : host_.blocking_calls(thread)) {
      const trace::Interval part = {std::max(call.start_ns, gap.start_ns),
                                    std::min(call.end_ns, gap.end_ns)};
      if (part.end_ns > part.start_ns) blocked.push_back(part);
    }
  };
  for (const ThreadKey& thread : rank_.training) collect(thread);
  if (last != nullptr) {
    const trace::HostCall* launch = host_.launch_of(*last);
    if (launch != nullptr) collect({launch->process, launch->thread});
  }
  std::sort(blocked.begin(), blocked.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });

  ++out_.gaps;
  const std::int64_t other_ns = out_.of(Cause::kOther);
  std::int64_t at = gap.start_ns;
  for (const trace::Interval& call : blocked) {
    if (call.end_ns <= at) continue;
    const std::int64_t start = std::max(call.start_ns, at);
    if (start > at) give({at, start}, {Cause::kOther, start});
    give({start, call.end_ns}, {Cause::kSync, call.end_ns});
    at = call.end_ns;
  }
  if (gap.end_ns > at) give({at, gap.end_ns}, {Cause::kOther, gap.end_ns});
  out_.edge_other_ns += out_.of(Cause::kOther) - other_ns;
}

GapAttributor::Answer GapAttributor::classify(const trace::DeviceOp& op, trace::Interval gap,
                                              bool first_recorded) const {
  const trace::HostCall* launch = host_.launch_of(op);
  if (launch == nullptr) return {Cause::kOther, gap.end_ns};
  if (launch->start_ns < gap.start_ns) {
    const bool is_short = gap.duration_ns() <= options_.kernel_wait_max_ns;
    return {is_short ? Cause::kKernelWait : Cause::kOther, gap.end_ns};
  }
  // The stream of the first recorded copy is busy with something that nobody recorded.
  if (first_recorded && op.kind == trace::DeviceOpKind::kCopy &&
      gap.end_ns - launch->start_ns > options_.head_wait_min_ns) {
    return {Cause::kOther, gap.end_ns};
  }
  const std::int64_t returned = std::max(launch->end_ns, gap.start_ns);
  const bool late = gap.end_ns - returned > options_.late_start_min_ns;
  const bool blocked = host_was_blocked(*launch, gap.start_ns);
  return {blocked ? Cause::kSync : Cause::kLaunch, late ? returned : gap.end_ns};
}

bool GapAttributor::host_was_blocked(const trace::HostCall& launch,
                                     std::int64_t gap_start_ns) const {
  const auto blocked = [&](ThreadKey thread) {
    return job::blocked_over(host_.blocking_calls(thread), gap_start_ns, launch.start_ns);
  };
  return blocked({launch.process, launch.thread}) ||
         std::any_of(rank_.training.begin(), rank_.training.end(), blocked);
}

void GapAttributor::give(trace::Interval gap, Answer answer) {
  const auto& waits = rank_.waits;
  while (next_wait_ < waits.size() && waits[next_wait_].end_ns <= gap.start_ns) ++next_wait_;
  std::int64_t at = gap.start_ns;
  for (std::size_t i = next_wait_; i < waits.size() && waits[i].start_ns < gap.end_ns; ++i) {
    const std::int64_t start = std::max(waits[i].start_ns, at);
    const std::int64_t end = std::min(waits[i].end_ns, gap.end_ns);
    give_rest({at, start}, answer);
    add({start, end}, Cause::kInputWait);
    at = end;
  }
  give_rest({at, gap.end_ns}, answer);
}

void GapAttributor::give_rest(trace::Interval piece, Answer answer) {
  const std::int64_t cut = std::clamp(answer.other_from_ns, piece.start_ns, piece.end_ns);
  add({piece.start_ns, cut}, answer.cause);
  add({cut, piece.end_ns}, Cause::kOther);
}

void GapAttributor::add(trace::Interval when, Cause cause) {
  if (when.duration_ns() <= 0) return;
  out_.idle.push_back({when, cause});
  out_.ns[static_cast<std::size_t>(cause)] += when.duration_ns();
}

}  // namespace unstarve::diagnose
