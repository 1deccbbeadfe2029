#include "cli/remedies.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <memory>

#include "base/clock.h"
#include "feed/pipeline/loader.h"

namespace unstarve::cli {

namespace {

constexpr int kCalibrationBatch = 16;
constexpr int kCalibrationPrefetch = 4;
constexpr double kCalibrationSeconds = 0.8;
constexpr double kSecondsPerNs = 1e-9;
// Where the machine was measured, what the second core adds is known to within this.
constexpr double kEfficiencyError = 0.07;
// ImageNet's, which nearly every script normalises with; others cost the same.
constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

double process_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * kSecondsPerNs;
}

feed::TransformPlan transform_for(NativeOutput output) {
  feed::TransformPlan plan;
  plan.geometry.horizontal_flip_probability = 0.5;
  if (output == NativeOutput::kUint8) return plan;
  plan.output.type = feed::OutputPlan::Type::kFloat32;
  plan.output.layout = feed::OutputPlan::Layout::kNchw;
  plan.output.scale_to_unit = true;
  plan.output.mean = kMean;
  plan.output.deviation = kDeviation;
  return plan;
}

struct LoadRate {
  double samples_per_s = 0;
  double cpu_s_per_sample = 0;
};

/// Loads for a while with `threads` threads; the first batches, which start threads and fill
/// buffers, do not count.
Result<LoadRate> measure_loading(const std::string& image_folder, NativeOutput output,
                                 int threads) {
  feed::LoaderOptions options;
  options.root = image_folder;
  options.transform = transform_for(output);
  options.batch_size = kCalibrationBatch;
  options.threads = threads;
  options.prefetch_batches = kCalibrationPrefetch;
  options.on_error = feed::OnError::kSkip;
  auto loader = feed::Loader::open(options);
  if (!loader) return forward_error(loader);
  const SteadyClock clock;
  std::uint32_t epoch = 0;
  if (const Status begun = (*loader)->begin_epoch(epoch); !begun) return forward_error(begun);
  int warm_up_batches = 2 * threads + options.prefetch_batches;
  double samples = 0;
  std::int64_t from_ns = 0;
  double from_cpu_s = 0;
  while (true) {
    const auto next = (*loader)->next(std::chrono::seconds(10));
    if (!next) return forward_error(next);
    if (next->state == feed::NextState::kTimeout) {
      return fail(ErrorCode::kTimeout, "no batch of {} came within 10 s", image_folder);
    }
    if (next->state == feed::NextState::kEnd) {
      if (const Status again = (*loader)->begin_epoch(++epoch); !again) return forward_error(again);
      continue;
    }
    if (warm_up_batches > 0) {
      --warm_up_batches;
      from_ns = clock.now_ns();
      from_cpu_s = process_cpu_s();
      continue;
    }
    samples += static_cast<double>(next->batch->count);
    const double elapsed_s = static_cast<double>(clock.now_ns() - from_ns) * kSecondsPerNs;
    if (elapsed_s > kCalibrationSeconds && samples > 0) {
      return LoadRate{samples / elapsed_s, (process_cpu_s() - from_cpu_s) / samples};
    }
  }
}

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

}  // namespace

Result<Calibration> calibrate(const std::string& image_folder, NativeOutput output) {
  const int threads = feed::usable_cpu_count();
  const auto one = measure_loading(image_folder, output, 1);
  if (!one) return forward_error(one);
  Calibration calibration;
  calibration.sample_cpu_s = one->cpu_s_per_sample;
  calibration.threads = threads;
  calibration.sample_bytes = static_cast<double>(feed::image_bytes(transform_for(output)));
  if (threads > 1) {
    const auto all = measure_loading(image_folder, output, threads);
    if (!all) return forward_error(all);
    calibration.parallel_efficiency =
        (all->samples_per_s / one->samples_per_s - 1) / static_cast<double>(threads - 1);
  }
  return calibration;
}

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
  predict::MeasureOptions measure;
  measure.warm_up_steps = analysis.timeline.input == trace::InputKind::kRun ? kWarmUpSteps : 0;
  if (analysis.timeline.device_ops.empty()) {
    measure.device_busy_ratio = analysis.measurement.gpu_utilization_mean;
  }
  const auto pipeline = predict::measure_pipeline(analysis.timeline, measure);
  if (!pipeline) {
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
  if (calibration.sample_cpu_s) {
    const double old_bytes = bytes_per_step(analysis);
    const double new_bytes = pipeline->mean_samples() * calibration.sample_bytes;
    predict_one(kUnstarveLoader,
                predict::native_loader(calibration.threads, 2 * calibration.threads,
                                       *calibration.sample_cpu_s,
                                       old_bytes > new_bytes ? new_bytes / old_bytes : 1));
  }
  return predictions;
}

}  // namespace unstarve::cli
