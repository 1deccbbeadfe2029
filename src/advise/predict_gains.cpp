#include "advise/predict_gains.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"

namespace unstarve::advise {

namespace {

// Where the machine was measured, what the second core adds is known to within this.
constexpr double kEfficiencyError = 0.07;
// Resampling fewer gives an interval that says nothing: a job of two steps was once told 64 times.
constexpr std::size_t kFewestSteps = 5;

predict::MachineFacts machine_facts(const diagnose::Signals& signals,
                                    const Calibration& calibration) {
  predict::MachineFacts machine;
  if (!signals.effective_cpus) return machine;  // a trace from elsewhere: wide ranges
  machine.cores = *signals.effective_cpus;
  machine.host_slowdown = {1.0, 1.15};
  if (calibration.parallel_efficiency) {
    const double measured = std::clamp(*calibration.parallel_efficiency, 0.0, 1.0);
    machine.parallel_efficiency = {std::max(measured - kEfficiencyError, 0.0),
                                   std::min(measured + kEfficiencyError, 1.0)};
  }
  return machine;
}

/// Every remedy that some finding offers, once, in the catalogue's order.
std::vector<Remedy> offered(const diagnose::Diagnosis& diagnosis, const JobFacts& job) {
  std::vector<std::string> rules;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    rules.insert(rules.end(), finding.reasons.begin(), finding.reasons.end());
  }
  return offers({diagnosis.signals, job}, rules);
}

}  // namespace

Result<PredictionBasis> prediction_basis(const diagnose::PartitionedJob& job,
                                         const diagnose::Diagnosis& diagnosis,
                                         const Reading<double>& gpu_utilisation,
                                         const Calibration& calibration,
                                         const predict::CalibrationText& workers) {
  predict::MeasureOptions measure;
  if (job.job.timeline().device_ops.empty()) measure.device_busy_ratio = gpu_utilisation;
  auto pipeline = predict::measure_pipeline(job.job, job.rank_index(), measure);
  if (!pipeline) return forward_error(pipeline);
  if (pipeline->steps.size() < kFewestSteps) {
    return fail(ErrorCode::kNotSupported,
                "gains are predicted from at least {} training steps behind the warm-up; {} has {}",
                kFewestSteps, job.job.timeline().file, pipeline->steps.size());
  }
  PredictionBasis basis;
  basis.pipeline = *std::move(pipeline);
  basis.machine = machine_facts(diagnosis.signals, calibration);
  // Copies are those that were recorded.
  const double steps =
      diagnosis.signals.recorded_step_count.value_or(static_cast<double>(diagnosis.steps.count));
  if (steps > 0) basis.bytes_per_step = static_cast<double>(diagnosis.copies.h2d_bytes) / steps;
  basis.calibration = calibration;
  basis.workers = workers;
  return basis;
}

Predictions predict_gains(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
                          const PredictionBasis& basis) {
  Predictions predictions;
  predict::WhatIfOptions options;
  options.machine = basis.machine;
  for (const Remedy& remedy : offered(diagnosis, job)) {
    const CatalogueEntry& entry = *find_entry(remedy.id);
    if (!entry.model) continue;
    const std::optional<predict::Remedy> edit = entry.model(remedy, basis);
    if (!edit) continue;
    const auto gain = predict::predict_speedup(basis.pipeline, *edit, options);
    if (gain) predictions.gains.emplace(remedy.id, *gain);
    const std::string& lacks = gain ? edit->lacks : gain.error().message;
    if (!lacks.empty()) predictions.notes.push_back(fmt::format("{}: {}", remedy.id, lacks));
  }
  const std::size_t recorded = basis.pipeline.steps_recorded;
  if (!predictions.gains.empty() && recorded > 0 && recorded < basis.pipeline.steps.size()) {
    predictions.notes.push_back(
        fmt::format("the predictions take the GPU's times from {} of {} steps, those in which it "
                    "was recorded",
                    recorded, basis.pipeline.steps.size()));
  }
  return predictions;
}

}  // namespace unstarve::advise
