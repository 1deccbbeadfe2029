#include "diagnose/signals/fetch_looks.h"

#include <algorithm>
#include <map>
#include <vector>

namespace unstarve::diagnose {

bool covers(const std::vector<trace::Interval>& intervals, std::int64_t instant) {
  const auto next = std::partition_point(
      intervals.begin(), intervals.end(),
      [instant](const trace::Interval& interval) { return interval.end_ns <= instant; });
  return next != intervals.end() && next->start_ns <= instant;
}

void visit_fetch_looks(const trace::Timeline& timeline, const job::LoaderUse& loader,
                       const FetchLook& visit) {
  std::map<job::ThreadKey, std::vector<trace::Interval>> fetches;  // of each thread disjoint
  for (const trace::Fetch& fetch : loader.fetches) {
    fetches[{fetch.process, fetch.thread}].push_back(fetch.when);
  }
  for (const trace::StackSample& sample : timeline.stack_samples) {
    const trace::Stack& stack = timeline.stacks[sample.stack];
    if (!stack.in_fetch) continue;
    const auto thread = fetches.find({sample.process, sample.thread});
    if (thread != fetches.end() && covers(thread->second, sample.t_ns)) visit(sample, stack);
  }
}

}  // namespace unstarve::diagnose
