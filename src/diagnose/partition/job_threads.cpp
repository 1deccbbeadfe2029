#include "diagnose/partition/job_threads.h"

#include <algorithm>
#include <map>

namespace unstarve::diagnose {

namespace {

// The thread that launched most of the operations; {0, 0} when no launch is recorded.
ThreadKey main_launcher(const trace::Timeline& timeline, const HostIndex& index,
                        const std::vector<std::uint32_t>& ops) {
  std::map<ThreadKey, std::size_t> counts;
  for (const std::uint32_t op : ops) {
    const trace::HostCall* launch = index.launch_of(timeline.device_ops[op]);
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

template <class T>
bool any_of_process(const std::vector<T>& items, std::int64_t process) {
  return std::any_of(items.begin(), items.end(),
                     [process](const T& item) { return item.process == process; });
}

void merge(std::vector<trace::Interval>& intervals) {
  std::size_t kept = 0;
  for (const trace::Interval& next : intervals) {
    if (kept > 0 && next.start_ns <= intervals[kept - 1].end_ns) {
      intervals[kept - 1].end_ns = std::max(intervals[kept - 1].end_ns, next.end_ns);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
}

}  // namespace

JobThreads find_job_threads(const trace::Timeline& timeline, const HostIndex& index,
                            const std::vector<std::uint32_t>& ops) {
  const ThreadKey launcher = main_launcher(timeline, index, ops);
  const bool own_steps = any_of_process(timeline.steps, launcher.process);
  const bool own_waits = any_of_process(timeline.loader_waits, launcher.process);

  JobThreads job;
  for (const trace::Step& step : timeline.steps) {
    if (own_steps && step.process != launcher.process) continue;
    job.steps.push_back(step.when);
    job.training.push_back({step.process, step.thread});
  }
  std::sort(job.training.begin(), job.training.end());
  job.training.erase(std::unique(job.training.begin(), job.training.end()), job.training.end());

  // A wait of another thread of the job (a prefetcher that calls `next` itself) does not hold the
  // training thread up, so it counts only where nobody says which thread trains.
  const bool known = !job.training.empty() && job.training.back().thread != 0;
  for (const trace::LoaderWait& wait : timeline.loader_waits) {
    if (wait.when.duration_ns() <= 0) continue;
    if (own_waits && wait.process != launcher.process) continue;
    const ThreadKey thread = {wait.process, wait.thread};
    if (known && !std::binary_search(job.training.begin(), job.training.end(), thread)) continue;
    job.waits.push_back(wait.when);
  }
  merge(job.waits);
  if (job.training.empty()) job.training.push_back(launcher);
  return job;
}

Reading<trace::Interval> span_of_steps(const std::vector<trace::Interval>& steps,
                                       bool leave_out_first) {
  const std::size_t first = leave_out_first && steps.size() > 1 ? 1 : 0;
  if (steps.empty()) return WhyAbsent::kNotObserved;
  trace::Interval span = steps[first];
  for (std::size_t i = first; i < steps.size(); ++i) {
    span.start_ns = std::min(span.start_ns, steps[i].start_ns);
    span.end_ns = std::max(span.end_ns, steps[i].end_ns);
  }
  return span;
}

}  // namespace unstarve::diagnose
