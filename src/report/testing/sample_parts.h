#pragma once

// The parts of the report in sample_report.h.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "report/model/report_model.h"

namespace unstarve::report::sample {

inline constexpr double kSecondsShown = 12.0;

/// A driver's utilisation readings at 10 Hz: idle while a batch is decoded, a burst when it is
/// there.
inline Series utilization(std::string label, double base, double swing, double period_s) {
  Series series;
  series.label = std::move(label);
  for (int i = 0; i < static_cast<int>(kSecondsShown * 10); ++i) {
    const double t = i * 0.1;
    const double phase = std::fmod(t, period_s) / period_s;
    const double ripple = 0.02 * std::sin(2 * std::numbers::pi * t * 1.7);
    series.t_s.push_back(t);
    series.value.push_back(std::min(1.0, base + (phase > 0.7 ? swing : 0.0) + ripple));
  }
  return series;
}

inline diagnose::Partition starving_partition() {
  diagnose::Partition partition;
  partition.gpu_compute = 0.171;
  partition.exposed_copy = 0.012;
  partition.input_wait = 0.794;
  partition.sync = 0.004;
  partition.launch = 0.014;
  partition.kernel_wait = 0.001;
  partition.other = 0.004;
  return partition;
}

inline diagnose::Partition fed_partition() {
  diagnose::Partition partition;
  partition.gpu_compute = 0.983;
  partition.exposed_copy = 0.006;
  partition.input_wait = 0.005;
  partition.launch = 0.006;
  return partition;
}

inline Measurement measurement(double step_us, double au, double samples_per_s, double cpu_cores) {
  Measurement m;
  m.step_us = step_us;
  m.au = au;
  m.samples_per_s = samples_per_s;
  m.cpu_cores = cpu_cores;
  m.gpu_utilization_mean = au;
  return m;
}

inline diagnose::Finding input_finding() {
  diagnose::Finding finding;
  finding.cause = "input_wait";
  finding.detail = "decode_cpu";
  finding.share = 0.794;
  finding.evidence = {
      "The training thread spent 161.5 ms of each 203.4 ms step inside the data loader's __next__.",
      "num_workers=0: batches are decoded in the training process itself, one image after the "
      "other.",
      "71 % of the fetch time is JPEG decoding (3.6 ms per image), 21 % is resizing.",
      "The job used 1.02 of the 2 CPU cores that it may use."};
  return finding;
}

inline advise::Remedy remedy(std::string id, std::string how, Reading<predict::Speedup> predicted) {
  advise::Remedy made;
  made.id = std::move(id);
  made.how = std::move(how);
  made.predicted = predicted;
  return made;
}

inline diagnose::Finding copy_finding() {
  diagnose::Finding finding;
  finding.cause = "exposed_copy";
  finding.detail = "pageable";
  finding.share = 0.012;
  finding.confidence = diagnose::Confidence::kAmbiguous;
  finding.evidence = {"100 % of the bytes copied to the device came from pageable memory."};
  return finding;
}

}  // namespace unstarve::report::sample
