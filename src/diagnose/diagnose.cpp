#include "diagnose/diagnose.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/units.h"
#include "diagnose/findings.h"
#include "diagnose/name_code.h"
#include "diagnose/named_events.h"
#include "diagnose/partition/partition.h"
#include "diagnose/partition/whole_span.h"
#include "diagnose/rank_finding.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

Partition named(const std::array<double, kCauseCount>& by_cause) {
  const auto share_of = [&by_cause](Cause cause) {
    return by_cause[static_cast<std::size_t>(cause)];
  };
  Partition shares;
  shares.gpu_compute = share_of(Cause::kGpuCompute);
  shares.exposed_communication = share_of(Cause::kExposedCommunication);
  shares.exposed_copy = share_of(Cause::kExposedCopy);
  shares.input_wait = share_of(Cause::kInputWait);
  shares.sync = share_of(Cause::kSync);
  shares.launch = share_of(Cause::kLaunch);
  shares.kernel_wait = share_of(Cause::kKernelWait);
  shares.other = share_of(Cause::kOther);
  return shares;
}

std::optional<RecordedTime> recorded_time(const trace::Timeline& timeline, const job::Rank& rank,
                                          const DevicePartition& partition) {
  if (rank.windows.empty()) return std::nullopt;
  RecordedTime recorded;
  recorded.recorded_us = static_cast<double>(partition.recorded_ns) / kNsPerUs;
  recorded.windows = static_cast<std::int64_t>(partition.parts.size());
  recorded.steps = job::steps_in(rank.steps, partition.parts);
  for (const trace::RecordedWindow& window : timeline.windows) {
    if (rank.process != 0 && window.process != rank.process) continue;
    recorded.clock_error_us =
        std::max(recorded.clock_error_us, static_cast<double>(window.clock_error_ns) / kNsPerUs);
  }
  recorded.partition = named(partition.shares());
  return recorded;
}

DeviceDiagnosis describe(const job::JobView& job, const DevicePartition& partition) {
  const trace::Timeline& timeline = job.timeline();
  const job::Rank& rank = job.ranks()[partition.rank];
  DeviceDiagnosis device;
  device.info.index = partition.device;
  for (const trace::DeviceInfo& info : timeline.devices) {
    if (info.index == partition.device) device.info = info;
  }
  const double recorded_ns = static_cast<double>(partition.recorded_ns);
  const double edge_busy_ns = static_cast<double>(partition.edge_busy_ns);
  device.span_us = static_cast<double>(partition.span.duration_ns()) / kNsPerUs;
  device.gpu_busy_ratio =
      (static_cast<double>(partition.time.busy_ns()) + edge_busy_ns) / recorded_ns;
  device.edge_busy_ratio = edge_busy_ns / recorded_ns;
  device.partition = named(shares_of_span(partition, rank));
  device.recorded = recorded_time(timeline, rank, partition);
  return device;
}

Reading<double> training_rate(const job::Rank& rank) {
  auto samples = static_cast<double>(rank.thinned_training.samples);
  double seconds = static_cast<double>(rank.thinned_training.sampled_ns) * kSecondsPerNs;
  for (const trace::Step& step : rank.training_steps()) {
    if (!step.samples) continue;
    samples += static_cast<double>(*step.samples);
    seconds += static_cast<double>(step.when.duration_ns()) * kSecondsPerNs;
  }
  if (samples <= 0 || seconds <= 0) return WhyAbsent::kNotObserved;
  return samples / seconds;
}

StepSummary summarise_steps(const SignalSources& sources) {
  std::vector<double> durations;
  const trace::Interval window = signal_window(sources);
  for (const trace::Step& step : sources.rank.steps) {
    if (step.when.start_ns < window.start_ns) continue;  // warm-up
    durations.push_back(static_cast<double>(step.when.duration_ns()) / kNsPerUs);
  }
  StepSummary summary;
  const std::vector<trace::Step>& steps = sources.rank.steps;
  if (!steps.empty()) summary.source = steps.front().source;
  const trace::RowTotals& thinned = sources.rank.thinned;
  summary.count = static_cast<std::int64_t>(durations.size()) + thinned.rows;
  if (durations.empty()) return summary;
  summary.mean_us = std::accumulate(durations.begin(), durations.end(),
                                    static_cast<double>(thinned.ns) / kNsPerUs) /
                    static_cast<double>(summary.count);
  summary.median_us = median_of(durations);
  summary.samples_per_s = training_rate(sources.rank);
  return summary;
}

Reading<ThreadTime> time_of_thread(const Signals& signals) {
  if (!signals.wait_ratio) return signals.wait_ratio.why_absent();
  if (signals.step_count.value_or(0) < 1) return WhyAbsent::kNotObserved;
  ThreadTime time;
  time.input_wait = std::clamp(*signals.wait_ratio, 0.0, 1.0);
  time.sync = signals.blocked_ratio;
  if (time.sync) time.sync = std::clamp(*time.sync, 0.0, 1 - time.input_wait);
  time.own_work = 1 - time.input_wait - time.sync.value_or(0);
  return time;
}

CopySummary summarise_copies(const trace::Timeline& timeline, const Signals& signals) {
  CopySummary copies;
  for (const trace::DeviceOp& op : timeline.device_ops) {
    if (op.kind != trace::DeviceOpKind::kCopy) continue;
    if (op.direction != trace::CopyDirection::kHostToDevice) continue;
    ++copies.h2d_count;
    copies.h2d_bytes += op.bytes;
  }
  copies.pageable_ratio = signals.pageable_ratio;
  return copies;
}

}  // namespace

Diagnosis diagnose(const PartitionedJob& partitioned, const HostSignals& host) {
  const trace::Timeline& timeline = partitioned.job.timeline();
  const SignalSources sources(partitioned, host);
  Diagnosis diagnosis;
  diagnosis.signals = derive_signals(sources);
  const Signals& signals = diagnosis.signals;
  diagnosis.input = timeline.input;
  diagnosis.file = timeline.file;
  diagnosis.run_id = timeline.run_id;
  for (const DevicePartition& partition : partitioned.devices) {
    diagnosis.devices.push_back(describe(partitioned.job, partition));
  }
  diagnosis.steps = summarise_steps(sources);
  if (sources.worst != nullptr) {
    diagnosis.partition = named(shares_of_span(*sources.worst, sources.rank));
  }
  diagnosis.set_aside = partitioned.set_aside;
  diagnosis.thread_time = time_of_thread(signals);
  diagnosis.edge_other_ratio = signals.edge_other_ratio.value_or(0);
  diagnosis.copies = summarise_copies(timeline, signals);
  diagnosis.events = count_events(sources);
  diagnosis.logged = host.logged;
  diagnosis.gpu_errors = group_errors(host.gpu_errors, host.run_started_ns, sources.rank.steps);
  conclude(signals, diagnosis);
  name_code(sources, diagnosis);
  add_ranks(partitioned.ranks, diagnosis);
  return diagnosis;
}

Diagnosis diagnose(const trace::Timeline& timeline, const HostSignals& host) {
  const job::JobView job(timeline);
  return diagnose(PartitionedJob(job), host);
}

}  // namespace unstarve::diagnose
