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

}  // namespace

JobView::JobView(const trace::Timeline& timeline) : timeline_(timeline), host_(timeline) {
  gather_devices();
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
  const bool nameless = timeline_.steps.empty() && timeline_.input == trace::InputKind::kRun;
  Rank rank = gather_rank(
      timeline_, launcher,
      nameless ? steps_by_repetition(timeline_, host_, ops, launcher) : std::vector<trace::Step>());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].process == rank.process && ranks_[i].training == rank.training) return i;
  }
  ranks_.push_back(std::move(rank));
  return ranks_.size() - 1;
}

}  // namespace unstarve::job
