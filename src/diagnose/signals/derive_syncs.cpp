#include <algorithm>
#include <map>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

using trace::CopyDirection;
using trace::HostCallKind;
using trace::Interval;

bool is_training(const SignalSources& sources, const trace::HostCall& call) {
  const job::ThreadKey thread = {call.process, call.thread};
  const std::vector<job::ThreadKey>& training = sources.rank.training;
  return std::binary_search(training.begin(), training.end(), thread);
}

double blocking_calls(const SignalSources& sources) {
  double count = 0;
  for (const job::ThreadKey& thread : sources.rank.training) {
    for (const Interval& call : sources.job.host().blocking_calls(thread)) {
      if (lies_in_recording(call, *sources.worst)) ++count;
    }
  }
  return count;
}

/// The call in which the training threads were blocked for longest; empty where none blocked.
std::string longest_call(const SignalSources& sources) {
  std::map<trace::NameId, std::int64_t> blocked;
  for (const trace::HostCall& call : sources.timeline().host_calls) {
    if (call.kind != HostCallKind::kSync || !is_training(sources, call)) continue;
    if (!lies_in_recording({call.start_ns, call.end_ns}, *sources.worst)) continue;
    blocked[call.name] += call.end_ns - call.start_ns;
  }
  const auto longest =
      std::max_element(blocked.begin(), blocked.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == blocked.end()) return "";
  return std::string(sources.timeline().name_of(longest->first));
}

/// What the training threads launched, by when: a copy's direction, or kUnknown for all else.
struct Launched {
  std::int64_t start_ns;
  CopyDirection direction;
};

std::vector<Launched> launched_by_training(const SignalSources& sources) {
  std::map<const trace::HostCall*, CopyDirection> copies;
  for (const trace::DeviceOp& op : sources.timeline().device_ops) {
    if (op.kind != trace::DeviceOpKind::kCopy) continue;
    const trace::HostCall* launch = sources.job.host().launch_of(op);
    if (launch != nullptr) copies.emplace(launch, op.direction);
  }
  std::vector<Launched> launched;
  for (const trace::HostCall& call : sources.timeline().host_calls) {
    const auto copy = copies.find(&call);
    const bool is_copy = copy != copies.end();
    if (!is_copy && call.kind != HostCallKind::kLaunch) continue;
    if (!is_training(sources, call)) continue;
    launched.push_back({call.start_ns, is_copy ? copy->second : CopyDirection::kUnknown});
  }
  std::sort(launched.begin(), launched.end(),
            [](const Launched& a, const Launched& b) { return a.start_ns < b.start_ns; });
  return launched;
}

/// The last of the blocking calls that began by then; the threads' calls are asked one by one.
const Interval* last_blocking(const SignalSources& sources, std::int64_t instant_ns) {
  const Interval* last = nullptr;
  for (const job::ThreadKey& thread : sources.rank.training) {
    const job::BlockingCalls& calls = sources.job.host().blocking_calls(thread);
    const auto next = std::partition_point(
        calls.begin(), calls.end(),
        [instant_ns](const Interval& call) { return call.start_ns <= instant_ns; });
    if (next == calls.begin()) continue;
    const Interval& call = *std::prev(next);
    if (last == nullptr || call.start_ns > last->start_ns) last = &call;
  }
  return last;
}

/// A thread waits for what it launched last: where that is a copy, the wait is for the copy.
void derive_awaited_copies(const SignalSources& sources, Signals& out) {
  const auto sync_ns = static_cast<double>(sources.worst->of(Cause::kSync));
  if (sync_ns <= 0) return;
  const std::vector<Launched> launched = launched_by_training(sources);
  double uploads_ns = 0;
  double read_back_ns = 0;
  for (const IdleSlice& slice : sources.worst->idle) {
    if (slice.cause != Cause::kSync) continue;
    const Interval* call = last_blocking(sources, slice.when.start_ns);
    if (call == nullptr) continue;
    const auto next = std::partition_point(
        launched.begin(), launched.end(),
        [call](const Launched& candidate) { return candidate.start_ns < call->end_ns; });
    if (next == launched.begin()) continue;
    const CopyDirection direction = std::prev(next)->direction;
    const auto ns = static_cast<double>(slice.when.duration_ns());
    if (direction == CopyDirection::kHostToDevice) uploads_ns += ns;
    if (direction == CopyDirection::kDeviceToHost) read_back_ns += ns;
  }
  out.upload_wait_ratio = uploads_ns / sync_ns;
  out.read_back_ratio = read_back_ns / sync_ns;
}

}  // namespace

void derive_sync_signals(const SignalSources& sources, double steps, Signals& out) {
  if (sources.worst == nullptr || sources.timeline().host_calls.empty()) return;
  if (steps > 0) out.syncs_per_step = blocking_calls(sources) / steps;
  out.blocking_call = longest_call(sources);
  derive_awaited_copies(sources, out);
}

}  // namespace unstarve::diagnose
