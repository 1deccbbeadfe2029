#include "diagnose/partition/edges.h"

#include <algorithm>
#include <optional>
#include <set>

namespace unstarve::diagnose {

namespace {

bool is_launch(const trace::HostCall& call) {
  return call.kind == trace::HostCallKind::kLaunch && call.correlation != trace::kNoCorrelation;
}

}  // namespace

RecordingEdges::RecordingEdges(const job::JobView& view, const job::DeviceWork& work,
                               const PartitionOptions& options)
    : timeline_(view.timeline()), host_(view.host()), options_(options) {
  std::set<job::ThreadKey> threads;
  for (const std::uint32_t i : work.ops) {
    const trace::DeviceOp& op = timeline_.device_ops[i];
    const trace::HostCall* launch = host_.launch_of(op);
    if (launch == nullptr) continue;
    threads.insert({launch->process, launch->thread});
    longest_way_ns_ = std::max(longest_way_ns_, op.end_ns - launch->start_ns);
    longest_ns_ = std::max(longest_ns_, op.end_ns - op.start_ns);
  }
  launching_.assign(threads.begin(), threads.end());
  const std::vector<job::ThreadKey>& training = view.rank_of(work).training;
  threads.insert(training.begin(), training.end());
  waiting_.assign(threads.begin(), threads.end());
}

// Whatever holds the first operation up was launched before it, so before the recording began, and
// has kept the device busy ever since: a queue runs dry once.
std::int64_t RecordingEdges::busy_until(const trace::DeviceOp* first,
                                        const trace::Interval& gap) const {
  std::int64_t launched_ns = gap.end_ns;
  if (first != nullptr) {
    const trace::HostCall* launch = host_.launch_of(*first);
    if (launch == nullptr || launch->start_ns < gap.start_ns) return gap.start_ns;
    launched_ns = launch->start_ns;
    // A copy from pageable memory waits for its stream inside its launch call.
    const bool copies = first->kind == trace::DeviceOpKind::kCopy;
    const std::int64_t waits_from_ns = copies ? launch->start_ns : launch->end_ns;
    if (gap.end_ns - waits_from_ns > options_.head_wait_min_ns) return gap.end_ns;
  }
  std::int64_t until_ns = gap.start_ns;
  for (const job::ThreadKey& thread : waiting_) {
    const job::BlockingCalls& calls = host_.blocking_calls(thread);
    auto call = job::first_ending_after(calls, gap.start_ns);
    for (; call != calls.end() && call->start_ns < launched_ns; ++call) {
      const std::int64_t end_ns = std::min(call->end_ns, launched_ns);
      const std::int64_t waited_ns = end_ns - std::max(call->start_ns, gap.start_ns);
      if (waited_ns > options_.head_wait_min_ns) until_ns = std::max(until_ns, end_ns);
    }
  }
  return until_ns;
}

std::int64_t RecordingEdges::busy_from(const trace::DeviceOp* last, const trace::Interval& gap,
                                       std::int64_t recording_start_ns) const {
  // Records that were lost look like work that did not end.
  if (timeline_.events_lost > 0) return gap.end_ns;
  const trace::HostCall* before = last == nullptr ? nullptr : host_.launch_of(*last);
  if (last != nullptr && before == nullptr) return gap.end_ns;
  const auto& calls = timeline_.host_calls;
  auto call = std::partition_point(
      calls.begin(), calls.end(),
      [&gap](const trace::HostCall& candidate) { return candidate.start_ns < gap.end_ns; });
  std::int64_t launched_ns = gap.end_ns;
  while (call != calls.begin()) {
    --call;
    if (call->start_ns < recording_start_ns) break;
    if (before != nullptr && call->start_ns <= before->start_ns) break;
    if (call->end_ns < gap.end_ns && launches_here(*call) &&
        !host_.has_operation(call->correlation)) {
      launched_ns = call->start_ns;
    }
  }
  // Where no queue was ever that long, records are missing and not work that went on.
  constexpr std::int64_t kLongerThanEver = 2;
  if (gap.end_ns - launched_ns > kLongerThanEver * longest_way_ns_) return gap.end_ns;
  return std::max(gap.start_ns, launched_ns);
}

bool RecordingEdges::is_behind_queue(const trace::Interval& gap,
                                     std::int64_t recording_start_ns) const {
  if (timeline_.events_lost > 0) return false;
  const auto& calls = timeline_.host_calls;
  auto call = std::partition_point(calls.begin(), calls.end(),
                                   [recording_start_ns](const trace::HostCall& candidate) {
                                     return candidate.start_ns < recording_start_ns;
                                   });
  std::optional<std::int64_t> first_ns;
  for (; call != calls.end() && call->start_ns < gap.end_ns; ++call) {
    if (!is_launch(*call) || !belongs_to_process(*call)) continue;
    if (host_.has_operation(call->correlation)) return false;
    if (!first_ns) first_ns = call->end_ns;
  }
  return first_ns && gap.end_ns - *first_ns > std::max(options_.head_wait_min_ns, longest_ns_);
}

/// Autograd launches from a thread of its own, of which perhaps no operation is recorded.
bool RecordingEdges::belongs_to_process(const trace::HostCall& call) const {
  return std::any_of(launching_.begin(), launching_.end(), [&call](const job::ThreadKey& thread) {
    return thread.process == call.process;
  });
}

bool RecordingEdges::launches_here(const trace::HostCall& call) const {
  if (!is_launch(call)) return false;
  return std::binary_search(launching_.begin(), launching_.end(),
                            job::ThreadKey{call.process, call.thread});
}

}  // namespace unstarve::diagnose
