#include "diagnose/diagnose.h"

#include <algorithm>
#include <numeric>

#include "diagnose/findings.h"
#include "diagnose/partition/partition.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

constexpr double kNsPerUs = 1e3;
constexpr double kSecondsPerNs = 1e-9;

Partition shares_of(const DevicePartition& partition) {
  Partition shares;
  shares.gpu_compute = partition.share(Cause::kGpuCompute);
  shares.exposed_communication = partition.share(Cause::kExposedCommunication);
  shares.exposed_copy = partition.share(Cause::kExposedCopy);
  shares.input_wait = partition.share(Cause::kInputWait);
  shares.sync = partition.share(Cause::kSync);
  shares.launch = partition.share(Cause::kLaunch);
  shares.kernel_wait = partition.share(Cause::kKernelWait);
  shares.other = partition.share(Cause::kOther);
  return shares;
}

DeviceDiagnosis describe(const trace::Timeline& timeline, const DevicePartition& partition) {
  DeviceDiagnosis device;
  device.info.index = partition.device;
  for (const trace::DeviceInfo& info : timeline.devices) {
    if (info.index == partition.device) device.info = info;
  }
  const double span_ns = static_cast<double>(partition.span.duration_ns());
  device.span_us = span_ns / kNsPerUs;
  device.gpu_busy_ratio = static_cast<double>(partition.time.busy_ns()) / span_ns;
  device.partition = shares_of(partition);
  return device;
}

Reading<double> training_rate(const job::Rank& rank) {
  double samples = 0;
  double seconds = 0;
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
  summary.count = static_cast<std::int64_t>(durations.size());
  if (durations.empty()) return summary;
  summary.mean_us = std::accumulate(durations.begin(), durations.end(), 0.0) /
                    static_cast<double>(durations.size());
  summary.median_us = median(durations);
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
    diagnosis.devices.push_back(describe(timeline, partition));
  }
  diagnosis.steps = summarise_steps(sources);
  if (sources.worst != nullptr) diagnosis.partition = shares_of(*sources.worst);
  diagnosis.thread_time = time_of_thread(signals);
  diagnosis.edge_other_ratio = signals.edge_other_ratio.value_or(0);
  diagnosis.copies = summarise_copies(timeline, signals);
  conclude(signals, diagnosis);
  return diagnosis;
}

Diagnosis diagnose(const trace::Timeline& timeline, const HostSignals& host) {
  const job::JobView job(timeline);
  return diagnose(PartitionedJob(job), host);
}

}  // namespace unstarve::diagnose
