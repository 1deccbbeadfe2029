#pragma once

// What the report in sample_report.h cost.

#include "cost/cost.h"

namespace unstarve::report::sample {

/// 12.2 s on one emulated GPU after 4 s of start-up; nobody may read the processors' energy.
inline cost::Usage usage() {
  cost::Usage usage;
  usage.seconds = {4, 12.2, 0.3};
  cost::UsedGpu gpu;
  gpu.name = "Emulated NVIDIA A100-SXM4-40GB";
  gpu.emulated = true;
  gpu.seconds = usage.seconds;
  gpu.energy = {{{WhyAbsent::kNotObserved, 0}, {1220.0, 1}, {17.0, 1}}};
  gpu.shares =
      std::array<double, diagnose::kCauseCount>{0.171, 0, 0.012, 0.794, 0.004, 0.014, 0.001, 0.004};
  usage.gpus = {gpu};
  usage.cpu.fill({WhyAbsent::kNoPermission, 0});
  return usage;
}

inline cost::Cost cost_of_report() {
  return cost::cost_of(usage(), cost::default_rates(),
                       cost::Change{"unstarve_loader", {5.75, 5.69, 5.8}, true});
}

/// A job that trains on the CPU and took 36 kJ.
inline cost::Cost cost_of_host_report() {
  cost::Usage on_cpu = usage();
  on_cpu.gpus.clear();
  on_cpu.cpu = {{{0.0, 1}, {36e3, 1}, {0.0, 1}}};
  return cost::cost_of(on_cpu, cost::default_rates(), std::nullopt);
}

}  // namespace unstarve::report::sample
