#pragma once

// A made-up but plausible report for this module's tests and for the browser's. Nothing outside of
// tests may include it: the product prints only what was measured.

#include <string>

#include "report/testing/sample_cost.h"
#include "report/testing/sample_parts.h"

namespace unstarve::report::sample {

inline diagnose::Diagnosis diagnosis() {
  diagnose::Diagnosis d;
  d.input = trace::InputKind::kRun;
  d.file = "runs/2026-11-21-1014-train";
  d.run_id = "2026-11-21-1014-train";
  diagnose::DeviceDiagnosis device;
  device.info.name = "NVIDIA A100-SXM4-40GB";
  device.info.emulated = true;
  device.span_us = 12'204'000;
  device.gpu_busy_ratio = 0.183;
  device.partition = starving_partition();
  d.devices = {device};
  d.steps = {60, 203'400.0, 202'900.0};
  d.partition = starving_partition();
  d.copies = {288'999'936, 60, 1.0};
  d.findings = {input_finding(), copy_finding()};
  d.hints = {{"gpu_low_cpu_high",
              "GPU utilisation is low (15 %) and the job's CPUs are busy (51 %): data loading or "
              "preprocessing is the usual reason",
              "a busy host thread that launches kernels looks the same"}};
  d.abstentions = {{"throttled", "clock event reasons", WhyAbsent::kNotSupported},
                   {"memory_bound", "DRAM activity", WhyAbsent::kNotSupported},
                   {"low_precision_unused", "kernel names", WhyAbsent::kNotObserved},
                   {"misaligned_shapes", "kernel names", WhyAbsent::kNotObserved}};
  return d;
}

inline advise::Advice advice() {
  advise::Advice a;
  advise::Remedy more_workers = remedy(
      "more_workers", "Set num_workers=2 and prefetch_factor=4 in the DataLoader (train.py:41).",
      predict::Speedup{2.05, 1.88, 2.21});
  more_workers.values = {{"num_workers", 2}, {"prefetch_factor", 4}};
  const advise::Remedy loader =
      remedy("unstarve_loader",
             "Replace torch.utils.data.DataLoader by unstarve.ImageFolderLoader (train.py:41).",
             predict::Speedup{5.71, 5.3, 5.84});
  a.for_findings = {
      {more_workers, loader},
      {remedy("pin_memory", "Pass pin_memory=True to the DataLoader.", WhyAbsent::kNotSupported)}};
  a.for_hints = {{}};
  a.for_findings[0][0].edit =
      "- DataLoader(..., num_workers=0)\n+ DataLoader(..., num_workers=2, prefetch_factor=4)";
  a.leading_finding = 0;
  a.leading_remedy = loader;
  a.next_remedy = loader;
  a.verdict =
      "The GPU waits for input 79 % of the time: one process decodes the JPEGs while the GPU "
      "idles.";
  a.cause = a.verdict;
  return a;
}

inline Report report() {
  Report r;
  r.diagnosis = diagnosis();
  r.advice = advice();
  const Measurement before = measurement(203'400, 0.171, 157.3, 1.02);
  r.verification = {{"more_workers", "num_workers=2, prefetch_factor=4",
                     predict::Speedup{2.05, 1.88, 2.21}, predict::Speedup{2.11, 2.04, 2.18}, true,
                     before, measurement(96'400, 0.361, 332.0, 1.97), WhyAbsent::kNotObserved},
                    {"unstarve_loader", "unstarve.ImageFolderLoader, 2 threads",
                     predict::Speedup{5.71, 5.3, 5.84}, predict::Speedup{5.75, 5.69, 5.8}, true,
                     before, measurement(35'400, 0.983, 904.0, 0.78), fed_partition()}};
  for (Verification& tried : r.verification) tried.outcome = trial::Outcome::kKept;
  r.utilization = {utilization("before", 0.05, 0.4, 0.9),
                   utilization("more_workers", 0.18, 0.6, 0.9),
                   utilization("unstarve_loader", 0.97, 0.0, 1.0)};
  r.own_cost = {{"CPU", "0.011 cores for the sampler (10 Hz, 118 samples, 0.4 ms late at worst)"},
                {"in the job", "3.1 us per step, 0.002 % of a step"},
                {"memory", "14 MB"}};
  r.facts.command = "python train.py --batch-size 32 --steps 60";
  r.facts.started = "2026-11-21 10:14:07";
  r.facts.host = "node-17, 2 CPU cores";
  r.facts.device = "NVIDIA A100-SXM4-40GB";
  r.facts.emulated = true;
  r.facts.duration_s = 12.2;
  r.facts.exit_code = 0;
  r.facts.steps = 61;
  r.cost = cost_of_report();
  r.facts.versions = {{"unstarve", "0.1.0"}, {"Python", "3.11.7"}, {"PyTorch", "2.15.0"}};
  return r;
}

/// A job that trains on the CPU: no GPU's time to be divided.
inline Report host_report() {
  Report r = report();
  diagnose::Diagnosis& d = r.diagnosis;
  d.devices.clear();
  d.partition = WhyAbsent::kNotObserved;
  d.steps.samples_per_s = 157.3;
  d.thread_time = diagnose::ThreadTime{.input_wait = 0.62, .sync = {}, .own_work = 0.38};
  d.findings = {input_finding()};
  r.advice.for_findings.resize(1);
  r.advice.not_observed = {{"GPU activity", "this job trains on the CPU", "on a GPU it would be"}};
  r.advice.verdict = "Input-bound: 62 % of a step waits for the data loader at train.py:41.";
  r.advice.cause = r.advice.verdict;
  r.advice.next_remedy = r.advice.for_findings[0][0];
  r.cost = cost_of_host_report();
  r.verification.clear();
  r.utilization.clear();
  r.facts.device.clear();
  r.facts.emulated = false;
  return r;
}

/// Strings that would break out of HTML, JSON or a terminal if they were not escaped.
inline Report hostile_report() {
  Report r = report();
  const std::string evil =
      "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x1b[31m\xff\xc3";
  r.facts.command = evil;
  r.facts.host = evil;
  r.facts.device = evil;
  r.advice.verdict = evil;
  r.advice.cause = evil;
  r.advice.for_findings[0][0].edit = "- " + evil + "\n+ " + evil;
  r.advice.next_remedy = r.advice.for_findings[0][0];
  r.facts.no_steps = evil;
  r.facts.losses = evil;
  r.diagnosis.devices[0].info.name = evil;
  r.diagnosis.findings[0].detail = evil;
  r.diagnosis.findings[0].evidence = {evil, evil};
  r.advice.for_findings[0][0].how = evil;
  r.diagnosis.hints[0].says = evil;
  r.diagnosis.abstentions[0].signal = evil;
  r.verification[0].remedy = evil;
  r.utilization[0].label = evil;
  r.own_cost[0].value = evil;
  r.advice.not_observed = {{evil, evil, evil}};
  return r;
}

}  // namespace unstarve::report::sample
