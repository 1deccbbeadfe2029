#include "roofline/position/step_work.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "base/units.h"
#include "job/device_time.h"
#include "job/rank/recorded.h"

namespace unstarve::roofline {

namespace {

Reading<double> median_step_s(const job::Rank& rank) {
  std::vector<double> seconds;
  for (const trace::Step& step : rank.training_steps()) {
    seconds.push_back(kSecondsPerNs * static_cast<double>(step.when.duration_ns()));
  }
  if (seconds.empty()) return WhyAbsent::kNotObserved;
  return median(std::move(seconds));
}

bool lies_in(const std::vector<job::RecordedPart>& parts, std::int64_t t_ns) {
  const auto part = std::partition_point(
      parts.begin(), parts.end(),
      [t_ns](const job::RecordedPart& each) { return each.when.end_ns <= t_ns; });
  return part != parts.end() && part->when.start_ns <= t_ns;
}

/// What was launched in the recorded parts of the steps, each step's share. An operation whose
/// launch was not recorded belongs to where it starts.
void add_device_work(const StepWorkSources& sources, const job::Rank& rank, StepWork& work) {
  const auto parts = job::recorded_parts(rank, *rank.span);
  const double steps = job::steps_in(rank.steps, parts);
  if (!(steps > 0)) return;
  const trace::Timeline& timeline = sources.job.timeline();
  // Behind the last step the device may still work on it.
  job::DeviceTimeSweep sweep(
      trace::Interval{rank.span->start_ns, std::numeric_limits<std::int64_t>::max()});
  double bytes = 0;
  double launches = 0;
  double graph_nodes = 0;
  for (const trace::DeviceOp& op : timeline.device_ops) {
    if (op.device != *sources.device) continue;
    const trace::HostCall* launch = sources.job.host().launch_of(op);
    if (!lies_in(parts, launch != nullptr ? launch->start_ns : op.start_ns)) continue;
    sweep.add(op);
    if (op.kind == trace::DeviceOpKind::kCopy) {
      const bool uploads = op.direction == trace::CopyDirection::kHostToDevice;
      bytes += uploads ? static_cast<double>(op.bytes) : 0;
      continue;
    }
    const bool in_graph = launch != nullptr && timeline.name_of(launch->name).find("GraphLaunch") !=
                                                   std::string_view::npos;
    ++(in_graph ? graph_nodes : launches);
  }
  work.device_s = kSecondsPerNs * static_cast<double>(sweep.time().busy_ns()) / steps;
  work.h2d_bytes = bytes / steps;
  work.launches = launches / steps;
  work.graph_nodes = graph_nodes / steps;
}

bool overlaps(const trace::Interval& first, const trace::Interval& other) {
  return first.start_ns < other.end_ns && other.start_ns < first.end_ns;
}

/// CPU time that the loader of the training spends: unstarve's own says it by stages, others by
/// their fetches.
Reading<double> loader_cpu_s(const job::JobView& job, const job::Rank& rank) {
  const job::LoaderUse* loader = rank.training_loader();
  const auto steps = static_cast<double>(
      std::count_if(rank.steps.begin(), rank.steps.end(),
                    [&](const trace::Step& step) { return overlaps(step.when, *rank.span); }));
  if (loader == nullptr || steps == 0) return WhyAbsent::kNotObserved;
  double spent_ns = 0;
  bool seen = false;
  for (const trace::Fetch& fetch : loader->fetches) {
    if (!fetch.cpu_ns || !overlaps(fetch.when, *rank.span)) continue;
    spent_ns += static_cast<double>(*fetch.cpu_ns);
    seen = true;
  }
  for (const trace::StageTime& stage : job.timeline().stages) {
    const bool of_loader = loader->id && stage.loader_id == *loader->id &&
                           (rank.process == 0 || stage.process == rank.process);
    if (!of_loader || stage.stage != trace::LoaderStage::kOnCpu) continue;
    if (!overlaps(stage.when, *rank.span)) continue;
    spent_ns += static_cast<double>(stage.spent_ns);
    seen = true;
  }
  if (!seen) return WhyAbsent::kNotObserved;
  return kSecondsPerNs * spent_ns / steps;
}

}  // namespace

StepWork step_work(const StepWorkSources& sources) {
  StepWork work;
  const job::Rank& rank = sources.job.ranks()[sources.rank];
  work.step_s = median_step_s(rank);
  if (!rank.span) return work;
  if (sources.device) add_device_work(sources, rank, work);
  work.loader_cpu_s = loader_cpu_s(sources.job, rank);
  return work;
}

}  // namespace unstarve::roofline
