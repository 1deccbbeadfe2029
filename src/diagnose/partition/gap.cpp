#include "diagnose/partition/gap.h"

#include <algorithm>
#include <limits>

namespace unstarve::diagnose {

using job::ThreadKey;

namespace {

// What a host that runs ahead of its device by two steps hides of its own work. Without steps
// nobody knows.
std::int64_t hidden_behind_work(const job::JobView& view, const job::DeviceWork& work,
                                const PartitionOptions& options, const DevicePartition& out) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  constexpr double kStepsAhead = 2;
  const double steps = job::steps_in(view.rank_of(work).steps, out.parts);
  if (steps <= 0) return kAll;
  double device_ns = 0;
  std::int64_t until_ns = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t i : work.ops) {  // by start; on several streams they overlap
    const trace::DeviceOp& op = view.timeline().device_ops[i];
    const auto part = std::partition_point(
        out.parts.begin(), out.parts.end(),
        [&op](const job::RecordedPart& candidate) { return candidate.when.end_ns <= op.start_ns; });
    const bool recorded = part != out.parts.end() && part->when.start_ns <= op.start_ns;
    if (!recorded || op.end_ns <= until_ns) continue;
    device_ns += static_cast<double>(op.end_ns - std::max(op.start_ns, until_ns));
    until_ns = op.end_ns;
  }
  return std::max(options.host_work_min_ns,
                  static_cast<std::int64_t>(kStepsAhead * device_ns / steps));
}

}  // namespace

GapAttributor::GapAttributor(const job::JobView& view, const job::DeviceWork& work,
                             const PartitionOptions& options, DevicePartition& out)
    : host_(view.host()),
      rank_(view.rank_of(work)),
      options_(options),
      edges_(view, work, options),
      hidden_ns_(hidden_behind_work(view, work, options, out)),
      out_(out) {}

void GapAttributor::before(const trace::DeviceOp& op, trace::Interval gap, bool first_recorded) {
  ++out_.gaps;
  if (first_recorded) {
    const std::int64_t busy_until_ns = edges_.busy_until(&op, gap);
    out_.edge_busy_ns += busy_until_ns - gap.start_ns;
    gap.start_ns = busy_until_ns;
    if (gap.duration_ns() <= 0) return;
  }
  const std::int64_t other_ns = out_.of(Cause::kOther);
  give(gap, classify(op, gap));
  if (first_recorded) out_.edge_other_ns += out_.of(Cause::kOther) - other_ns;
}

// The host may wait in the training thread or in the one that launched last.
std::vector<trace::Interval> GapAttributor::blocked_in(const trace::DeviceOp* last,
                                                       trace::Interval gap) const {
  std::vector<trace::Interval> blocked;
  const auto collect = [&](ThreadKey thread) {
    const job::BlockingCalls& calls = host_.blocking_calls(thread);
    auto call = job::first_ending_after(calls, gap.start_ns);
    for (; call != calls.end() && call->start_ns < gap.end_ns; ++call) {
      const trace::Interval part = {std::max(call->start_ns, gap.start_ns),
                                    std::min(call->end_ns, gap.end_ns)};
      if (part.end_ns > part.start_ns) blocked.push_back(part);
    }
  };
  for (const ThreadKey& thread : rank_.training) collect(thread);
  const trace::HostCall* launch = last == nullptr ? nullptr : host_.launch_of(*last);
  if (launch != nullptr) collect({launch->process, launch->thread});
  std::sort(blocked.begin(), blocked.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return blocked;
}

// Where nothing ran, what was launched in the gap and ran behind it says as much as an operation
// that ends a gap.
std::int64_t GapAttributor::first_busy_until(const trace::DeviceOp* next,
                                             trace::Interval gap) const {
  const trace::HostCall* launch = next == nullptr ? nullptr : host_.launch_of(*next);
  if (launch == nullptr || launch->start_ns >= gap.end_ns) return edges_.busy_until(nullptr, gap);
  return std::min(gap.end_ns, edges_.busy_until(next, {gap.start_ns, next->start_ns}));
}

void GapAttributor::tail(const trace::DeviceOp* last, trace::Interval gap,
                         const Recording& recording) {
  ++out_.gaps;
  if (recording.nothing_yet && edges_.is_behind_queue(gap, recording.start_ns)) {
    out_.edge_busy_ns += gap.duration_ns();
    return;
  }
  const std::int64_t busy_from_ns = edges_.busy_from(last, gap, recording.start_ns);
  out_.edge_busy_ns += gap.end_ns - busy_from_ns;
  gap.end_ns = busy_from_ns;
  if (recording.nothing_yet) {
    const std::int64_t busy_until_ns = first_busy_until(recording.next, gap);
    out_.edge_busy_ns += busy_until_ns - gap.start_ns;
    gap.start_ns = busy_until_ns;
  }
  const std::int64_t other_ns = out_.of(Cause::kOther);
  std::int64_t at = gap.start_ns;
  // Both threads at once count once.
  for (const trace::Interval& call : blocked_in(last, gap)) {
    if (call.end_ns <= at) continue;
    const std::int64_t start = std::max(call.start_ns, at);
    if (start > at) give({at, start}, {Cause::kOther, start});
    give({start, call.end_ns}, {Cause::kSync, call.end_ns});
    at = call.end_ns;
  }
  if (gap.end_ns > at) give({at, gap.end_ns}, {Cause::kOther, gap.end_ns});
  out_.edge_other_ns += out_.of(Cause::kOther) - other_ns;
}

GapAttributor::Answer GapAttributor::classify(const trace::DeviceOp& op,
                                              trace::Interval gap) const {
  const trace::HostCall* launch = host_.launch_of(op);
  if (launch == nullptr) return {Cause::kOther, gap.end_ns};
  if (launch->start_ns < gap.start_ns) {
    // The host was ahead by less than the way to the device: too late all the same.
    const bool at_once = op.start_ns - launch->start_ns <= options_.launch_way_max_ns;
    if (at_once) return {Cause::kLaunch, gap.end_ns};
    const bool is_short = gap.duration_ns() <= options_.kernel_wait_max_ns;
    return {is_short ? Cause::kKernelWait : Cause::kOther, gap.end_ns};
  }
  const std::int64_t returned = std::max(launch->end_ns, gap.start_ns);
  const bool late = gap.end_ns - returned > options_.late_start_min_ns;
  const std::int64_t other_from_ns = late ? returned : gap.end_ns;
  const std::optional<std::int64_t> until = host_was_blocked(*launch, gap.start_ns);
  if (!until) return {Cause::kLaunch, other_from_ns};
  const bool works = is_host_work({*until, launch->start_ns});
  return {Cause::kSync, other_from_ns, works ? *until : -1};
}

std::optional<std::int64_t> GapAttributor::host_was_blocked(const trace::HostCall& launch,
                                                            std::int64_t gap_start_ns) const {
  std::optional<std::int64_t> until;
  const auto ask = [&](ThreadKey thread) {
    const auto end_ns =
        job::blocked_over(host_.blocking_calls(thread), gap_start_ns, launch.start_ns);
    if (end_ns) until = std::max(until.value_or(*end_ns), *end_ns);
  };
  ask({launch.process, launch.thread});
  for (const ThreadKey& thread : rank_.training) ask(thread);
  return until;
}

bool GapAttributor::is_host_work(trace::Interval piece) const {
  return piece.duration_ns() > hidden_ns_ &&
         piece.duration_ns() - job::covered_ns(rank_.waits, piece) > hidden_ns_;
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

// Work of the host that is known by name keeps it from launching, whatever else it came after.
void GapAttributor::give_rest(trace::Interval piece, Answer answer) {
  const auto& occupied = rank_.occupied;
  while (next_occupied_ < occupied.size() && occupied[next_occupied_].end_ns <= piece.start_ns) {
    ++next_occupied_;
  }
  std::int64_t at = piece.start_ns;
  for (std::size_t i = next_occupied_; i < occupied.size() && occupied[i].start_ns < piece.end_ns;
       ++i) {
    const std::int64_t start = std::max(occupied[i].start_ns, at);
    const std::int64_t end = std::min(occupied[i].end_ns, piece.end_ns);
    give_unoccupied({at, start}, answer);
    add({start, end}, Cause::kLaunch);
    at = end;
  }
  give_unoccupied({at, piece.end_ns}, answer);
}

void GapAttributor::give_unoccupied(trace::Interval piece, Answer answer) {
  if (piece.duration_ns() <= 0) return;
  const std::int64_t cut = std::clamp(answer.other_from_ns, piece.start_ns, piece.end_ns);
  const std::int64_t works = answer.launch_from_ns < 0 ? cut : answer.launch_from_ns;
  const std::int64_t from = std::clamp(works, piece.start_ns, cut);
  add({piece.start_ns, from}, answer.cause);
  add({from, cut}, Cause::kLaunch);
  add({cut, piece.end_ns}, Cause::kOther);
}

void GapAttributor::add(trace::Interval when, Cause cause) {
  if (when.duration_ns() <= 0) return;
  out_.idle.push_back({when, cause});
  out_.ns[static_cast<std::size_t>(cause)] += when.duration_ns();
}

}  // namespace unstarve::diagnose
