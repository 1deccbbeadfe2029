#include "cli/remedies.h"

#include <algorithm>

namespace unstarve::cli {

namespace {

// Where the machine was measured, what the second core adds is known to within this.
constexpr double kEfficiencyError = 0.07;

predict::MachineFacts machine_facts(const Analysis& analysis, const Calibration& calibration) {
  predict::MachineFacts machine;
  if (!analysis.host.effective_cpus) return machine;  // a trace from elsewhere: wide ranges
  machine.cores = *analysis.host.effective_cpus;
  machine.host_slowdown = {1.0, 1.15};
  if (calibration.parallel_efficiency) {
    const double measured = std::clamp(*calibration.parallel_efficiency, 0.0, 1.0);
    machine.parallel_efficiency = {std::max(measured - kEfficiencyError, 0.0),
                                   std::min(measured + kEfficiencyError, 1.0)};
  }
  return machine;
}

/// Bytes that one step copies to the device: what a batch carries through shared memory.
double bytes_per_step(const Analysis& analysis) {
  const auto steps = static_cast<double>(analysis.diagnosis.steps.count);
  return steps > 0 ? static_cast<double>(analysis.diagnosis.copies.h2d_bytes) / steps : 0;
}

/// What giving back the largest tensor of a batch takes here, seconds. Nothing is said of loaders
/// with workers: their batches lie in shared memory.
predict::Range freeing_of(const trace::Timeline& timeline,
                          const predict::PipelineMeasurements& pipeline) {
  if (!pipeline.loader_known || pipeline.workers > 0) return {0, 0};
  double largest_bytes = 0;
  for (const trace::DeviceOp& op : timeline.device_ops) {
    if (op.kind != trace::DeviceOpKind::kCopy || op.source != trace::MemoryKind::kPageable ||
        op.direction != trace::CopyDirection::kHostToDevice) {
      continue;
    }
    largest_bytes = std::max(largest_bytes, static_cast<double>(op.bytes));
  }
  return largest_bytes > 0 ? measure_freeing(largest_bytes) : predict::Range{0, 0};
}

}  // namespace

const diagnose::Remedy* find_remedy(const diagnose::Diagnosis& diagnosis, std::string_view id) {
  for (const diagnose::Finding& finding : diagnosis.findings) {
    for (const diagnose::Remedy& remedy : finding.remedies) {
      if (remedy.id == id) return &remedy;
    }
  }
  return nullptr;
}

std::string fix_variable(const WorkerPlan& plan) {
  return fmt::format(R"({{"num_workers": {}, "prefetch_factor": {}}})", plan.workers,
                     plan.prefetch_factor);
}

std::string native_loader_variable() { return R"({"loader": "unstarve"})"; }

std::optional<WorkerPlan> plan_workers(const Analysis& analysis) {
  const diagnose::Remedy* remedy = find_remedy(analysis.diagnosis, kMoreWorkers);
  if (remedy == nullptr) return std::nullopt;
  const auto value = [remedy](const char* name) {
    const auto found = remedy->values.find(name);
    return found == remedy->values.end() ? 0 : static_cast<int>(found->second);
  };
  const WorkerPlan plan{value("num_workers"), value("prefetch_factor")};
  if (plan.workers < 1 || plan.prefetch_factor < 1) return std::nullopt;
  return plan;
}

std::vector<diagnose::RemedyPrediction> predict_remedies(Analysis& analysis,
                                                         const Calibration& calibration) {
  std::vector<diagnose::RemedyPrediction> predictions;
  const trace::Timeline& timeline = analysis.recording->timeline;
  const diagnose::PartitionedJob& job = analysis.recording->partitioned;
  predict::MeasureOptions measure;
  if (timeline.device_ops.empty()) {
    measure.device_busy_ratio = analysis.measurement.gpu_utilization_mean;
  }
  const auto pipeline = predict::measure_pipeline(job.job, job.rank_index(), measure);
  if (!pipeline) {
    // Why a run has no steps was said already.
    if (analysis.recording->timeline.input == trace::InputKind::kRun &&
        analysis.recording->timeline.steps.empty()) {
      return predictions;
    }
    analysis.remarks.push_back(pipeline.error().message);
    return predictions;
  }
  predict::WhatIfOptions options;
  options.machine = machine_facts(analysis, calibration);
  const auto predict_one = [&](const char* id, const predict::Remedy& remedy) {
    const auto speedup = predict::predict_speedup(*pipeline, remedy, options);
    if (speedup) {
      predictions.push_back({id, *speedup});
    } else {
      analysis.remarks.push_back(fmt::format("{}: {}", id, speedup.error().message));
    }
  };
  if (const auto plan = plan_workers(analysis)) {
    predict_one(kMoreWorkers, predict::more_workers(plan->workers, plan->prefetch_factor,
                                                    bytes_per_step(analysis)));
  }
  const predict::Range freeing_s =
      calibration.folder ? freeing_of(timeline, *pipeline) : predict::Range{0, 0};
  const auto predict_native = [&](const char* id, const LoaderCost& cost) {
    const double old_bytes = bytes_per_step(analysis);
    const double new_bytes = pipeline->mean_samples() * cost.sample_bytes;
    predict::Remedy remedy =
        predict::native_loader(calibration.threads, 2 * calibration.threads, cost.sample_cpu_s,
                               old_bytes > new_bytes ? new_bytes / old_bytes : 1);
    remedy.freeing_s = freeing_s;
    predict_one(id, remedy);
  };
  if (calibration.folder) predict_native(kUnstarveLoader, *calibration.folder);
  if (calibration.cache) predict_native(kUnstarveCache, *calibration.cache);
  if (calibration.shards) predict_native(kUnstarveShards, *calibration.shards);
  return predictions;
}

}  // namespace unstarve::cli
