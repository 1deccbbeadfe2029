#include "job/job_view.h"

#include <algorithm>
#include <map>

#include "job/repetition/repeated_steps.h"

namespace unstarve::job {
namespace {

/// The thread that launched most of the operations; {0, 0} when no launch is recorded.
ThreadKey main_launcher(const trace::Timeline& timeline, const HostIndex& host,
                        const std::vector<std::uint32_t>& ops) {
  std::map<ThreadKey, std::size_t> counts;
  for (const std::uint32_t op : ops) {
    const trace::HostCall* launch = host.launch_of(timeline.device_ops[op]);
    if (launch != nullptr) ++counts[{launch->process, launch->thread}];
  }
  ThreadKey best;
  std::size_t most = 0;
  for (const auto& [thread, count] : counts) {
    if (count > most) {
      most = count;
      best = thread;
    }
  }
  return best;
}

/// Whether the launching process has no steps, or a few before most of its work began: an optimizer
/// whose step went into a CUDA graph is not called again when that is replayed.
bool steps_end_early(const trace::Timeline& timeline, ThreadKey launcher,
                     const std::vector<std::uint32_t>& ops) {
  constexpr std::int64_t kFew = 20;
  constexpr double kEarly = 0.25;  // of the recorded work
  if (timeline.steps.empty()) return true;
  std::int64_t count = 0;
  std::int64_t last_ns = 0;
  for (const trace::Step& step : timeline.steps) {
    if (launcher.process != 0 && step.process != launcher.process) return false;
    ++count;
    last_ns = std::max(last_ns, step.when.end_ns);
  }
  if (count >= kFew || ops.empty()) return false;
  const auto by_start = [&timeline](std::uint32_t a, std::uint32_t b) {
    return timeline.device_ops[a].start_ns < timeline.device_ops[b].start_ns;
  };
  const auto [first, last] = std::minmax_element(ops.begin(), ops.end(), by_start);
  const std::int64_t from_ns = timeline.device_ops[*first].start_ns;
  const std::int64_t to_ns = timeline.device_ops[*last].end_ns;
  return static_cast<double>(last_ns - from_ns) < kEarly * static_cast<double>(to_ns - from_ns);
}

}  // namespace

JobView::JobView(const trace::Timeline& timeline) : timeline_(timeline), host_(timeline) {
  gather_devices();
  set_aside_ = without_part(timeline_, devices_, ranks_);
  if (set_aside_) {
    devices_.clear();
    ranks_.clear();
  }
  if (ranks_.empty()) gather_hosts();
}

void JobView::gather_hosts() {
  for (const trace::RankNumber& number : timeline_.rank_numbers) {
    if (number.process == 0) continue;
    Rank rank = gather_rank(timeline_, {number.process, 0});
    const bool steps = !rank.steps.empty() && rank.steps.front().process == number.process;
    if (steps) ranks_.push_back(std::move(rank));
  }
  if (ranks_.empty()) ranks_.push_back(gather_rank(timeline_, {}));
}

void JobView::gather_devices() {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_device;
  for (std::size_t i = 0; i < timeline_.device_ops.size(); ++i) {
    by_device[timeline_.device_ops[i].device].push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& [device, ops] : by_device) {
    const std::size_t rank = rank_launching(ops);
    devices_.push_back({device, std::move(ops), rank});
  }
}

std::size_t JobView::rank_launching(const std::vector<std::uint32_t>& ops) {
  const ThreadKey launcher = main_launcher(timeline_, host_, ops);
  // Of a trace it is known what was recorded by whoever recorded it: steps are marked in it.
  const bool nameless =
      timeline_.input == trace::InputKind::kRun && steps_end_early(timeline_, launcher, ops);
  std::vector<trace::Step> repeated;
  if (nameless) repeated = steps_by_repetition(timeline_, host_, ops, launcher);
  constexpr std::size_t kMoreByFar = 10;
  if (repeated.size() < kMoreByFar * timeline_.steps.size()) repeated.clear();
  Rank rank = gather_rank(timeline_, launcher, repeated);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].process == rank.process && ranks_[i].training == rank.training) return i;
  }
  ranks_.push_back(std::move(rank));
  return ranks_.size() - 1;
}

}  // namespace unstarve::job
