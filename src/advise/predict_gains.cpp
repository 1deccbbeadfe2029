#include "advise/predict_gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "base/number_words.h"
#include "diagnose/line_words.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::advise {

namespace {

// Where the machine was measured, what the second core adds is known to within this.
constexpr double kEfficiencyError = 0.07;
// Of fewer, a resampled interval says little: the first steps are not like those that follow.
constexpr std::size_t kFewSteps = 10;
// Loading shares more than the nearest caches, so that a second core adds less to it than to code
// that stays in them, or as much.
constexpr predict::Range kOfCoreScaling = {-0.2, 0.03};
// The training thread's own work beside busy loading: a core that is one of two threads of the same
// gets less done. Seen in the zoo on such cores: 1.12 to 1.15, in the demo, and on cores of which a
// second adds nearly as much as the first, next to nothing.
constexpr predict::Range kBesideLoading = {1.0, 1.25};
constexpr predict::Range kBesideLoadingOnWholeCores = {1.0, 1.08};
constexpr double kWholeCores = 0.9;
// A single thread that is measured with its helpers.
constexpr double kMoreThanOneCore = 1.1;

predict::MachineFacts machine_facts(const diagnose::Signals& signals,
                                    const Calibration& calibration) {
  predict::MachineFacts machine;
  if (!signals.effective_cpus) return machine;  // a trace from elsewhere: wide ranges
  machine.cores = *signals.effective_cpus;
  machine.host_slowdown = kBesideLoading;
  if (calibration.core_scaling) {
    const double measured = *calibration.core_scaling;
    if (measured >= kWholeCores) machine.host_slowdown = kBesideLoadingOnWholeCores;
    machine.parallel_efficiency = {std::max(measured + kOfCoreScaling.low, 0.0),
                                   std::min(measured + kOfCoreScaling.high, 1.0)};
  }
  if (calibration.parallel_efficiency) {
    const double measured = std::clamp(*calibration.parallel_efficiency, 0.0, 1.0);
    machine.parallel_efficiency = {std::max(measured - kEfficiencyError, 0.0),
                                   std::min(measured + kEfficiencyError, 1.0)};
  }
  return machine;
}

/// Of a job that trains on the CPU, the cores that it keeps busy between two waits: all that its
/// processes take, without the loading. Of the CPU time of a batch it is known what one fetch
/// takes.
Reading<double> training_cores(const diagnose::Signals& signals,
                               const predict::PipelineMeasurements& pipeline) {
  if (!diagnose::trains_on_host(signals)) return WhyAbsent::kNotSupported;
  if (!signals.job_cpu_cores || !signals.effective_cpus) return WhyAbsent::kNotObserved;
  double waited_s = 0;
  for (const predict::MeasuredStep& step : pipeline.steps) waited_s += step.wait_s;
  const double step_s = pipeline.mean_step_s();
  const double own_s = step_s - waited_s / static_cast<double>(pipeline.steps.size());
  const double own_cpu_s = *signals.job_cpu_cores * step_s - pipeline.mean_fetch_cpu_s();
  if (own_s <= 0) return 1.0;
  return std::clamp(own_cpu_s / own_s, 1.0, std::max(1.0, *signals.effective_cpus));
}

/// Of the loader that feeds the training, where it starts worker processes for each pass anew.
double steps_per_pass(const diagnose::PartitionedJob& job) {
  const job::Rank& rank = job.rank();
  const job::LoaderUse* loader = rank.training_loader();
  if (loader == nullptr || rank.steps.empty()) return 0;
  const bool live_on = loader->config && loader->config->persistent_workers.value_or(false);
  const std::int64_t passes = live_on ? 0 : passes_begun(job.job, job.rank_index(), *loader);
  const double steps =
      static_cast<double>(rank.steps.size()) + static_cast<double>(rank.thinned.rows);
  return passes < 2 ? 0 : steps / static_cast<double>(passes);
}

/// The model gives the training one thread. Where it uses more cores, it is run on a machine
/// without those, which is the worst case; the best one is that all cores are busy all of the time.
predict::Speedup beside_training(predict::Speedup gain, const predict::Remedy& edit,
                                 const diagnose::Signals& signals, const PredictionBasis& basis) {
  const double step_s = basis.pipeline.mean_step_s();
  double cpu_s = *signals.job_cpu_cores * step_s;
  if (edit.sample_cpu_s) {
    cpu_s += *edit.sample_cpu_s * basis.pipeline.mean_samples() - basis.pipeline.mean_fetch_cpu_s();
  } else if (edit.same_workers) {
    const double left = (edit.fetch_scale.low + edit.fetch_scale.high) / 2;
    cpu_s -= (1 - left) * basis.pipeline.mean_fetch_cpu_s();
  }
  const double all_busy = *signals.effective_cpus * step_s / std::max(cpu_s, 1e-9);
  gain.low = std::min(gain.low, all_busy);
  gain.high = std::max(all_busy, gain.low);
  gain.speedup = std::sqrt(gain.low * gain.high);
  return gain;
}

constexpr double kHardlyAGain = 1.01;

/// A job is not the same twice, least of all where its workers and its training have every CPU:
/// what else the machine does is then in its time (docs/starving.md).
void widen_for_another_run(const predict::Remedy& edit, double cores, predict::Speedup& gain) {
  const bool has_all_cpus = edit.loader.workers + 1 > cores;
  const double factor = 1 + (has_all_cpus ? kOtherRun : kLeastOtherRun);
  const double least = std::min(gain.low, kHardlyAGain);
  gain.low /= factor;
  if (least > 1) gain.low = std::max(gain.low, least);
  gain.high *= factor;
}

/// Of few steps a mean may be off by more than resampling them shows. How much is gained is then
/// less certain; that something is, where every world of the resampling said so, still is.
void widen_for_few_steps(std::size_t steps, predict::Speedup& gain) {
  if (steps >= kFewSteps) return;
  const double factor = static_cast<double>(kFewSteps) / static_cast<double>(steps);
  const double least = std::min(gain.low, kHardlyAGain);
  gain.low = gain.speedup * std::pow(gain.low / gain.speedup, factor);
  if (least > 1) gain.low = std::max(gain.low, least);
  gain.high = gain.speedup * std::pow(gain.high / gain.speedup, factor);
}

/// Where others use the job's CPUs, they may take as much from what is loaded faster, or be gone.
void widen_for_neighbours(const diagnose::Signals& signals, predict::Speedup& gain) {
  if (!diagnose::cpus_are_taken(signals)) return;
  const double free = std::max(0.1, 1 - *signals.neighbour_cores / *signals.effective_cpus);
  gain.low = std::min(gain.low, 1 + (gain.low - 1) * free);
  gain.high /= free;
}

std::vector<std::string> what_widens(const diagnose::Signals& signals, std::size_t steps) {
  std::vector<std::string> notes;
  if (steps < kFewSteps) {
    notes.push_back(
        fmt::format("the predictions rest on {} steps only: their ranges are made wider", steps));
  }
  if (diagnose::cpus_are_taken(signals)) {
    notes.emplace_back(
        "the predictions are for a machine on which the other processes go on, or have ended, and "
        "wide");
  }
  return notes;
}

/// Every remedy that some finding offers which is worth one, once, in the catalogue's order.
std::vector<Remedy> offered(const diagnose::Diagnosis& diagnosis, const JobFacts& job) {
  std::vector<std::string> rules;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    if (!is_worth_a_remedy(finding)) continue;
    rules.insert(rules.end(), finding.reasons.begin(), finding.reasons.end());
  }
  return offers({diagnosis.signals, job}, rules);
}

/// A rank that the others wait for is simulated alone: it cannot become faster than they are.
void hold_to_the_other_ranks(const diagnose::RankComparison& ranks, Predictions& predictions) {
  if (!ranks.straggler || predictions.gains.empty()) return;
  const double most = diagnose::most_that_helps(ranks);
  bool held = false;
  for (auto& [remedy, gain] : predictions.gains) {
    held = held || gain.high > most;
    gain.low = std::min(gain.low, most);
    gain.speedup = std::min(gain.speedup, most);
    gain.high = std::min(gain.high, most);
  }
  if (!held) return;
  predictions.notes.push_back(
      fmt::format("no remedy for the late rank is predicted to gain more than {}: the other "
                  "ranks' own work takes the rest of a step",
                  factor_text(most)));
}

}  // namespace

bool can_gain_by_loading(const diagnose::Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const diagnose::Finding& finding) {
                       return finding.cause == "input_wait" && is_worth_a_remedy(finding);
                     });
}

Result<PredictionBasis> prediction_basis(const diagnose::PartitionedJob& job,
                                         const diagnose::Diagnosis& diagnosis,
                                         const Measured& measured) {
  predict::MeasureOptions measure;
  measure.job_cpu = measured.job_cpu;
  if (job.job.devices().empty()) {
    measure.device_busy_ratio = diagnose::trains_on_host(diagnosis.signals)
                                    ? Reading<double>(0.0)
                                    : measured.gpu_utilisation;
  }
  auto pipeline = predict::measure_pipeline(job.job, job.rank_index(), measure);
  if (!pipeline) return forward_error(pipeline);
  if (pipeline->steps.size() < kFewestStepsToJudge) {
    return fail(ErrorCode::kNotSupported,
                "gains are predicted from at least {} training steps behind the warm-up; {} has {}",
                kFewestStepsToJudge, job.job.timeline().file, pipeline->steps.size());
  }
  PredictionBasis basis;
  basis.pipeline = *std::move(pipeline);
  basis.machine = machine_facts(diagnosis.signals, measured.calibration);
  basis.training_cores = training_cores(diagnosis.signals, basis.pipeline);
  if (basis.training_cores) {
    basis.machine.cores = std::max(1.0, basis.machine.cores + 1 - *basis.training_cores);
  }
  basis.steps_per_pass = steps_per_pass(job);
  basis.waits_for_storage = diagnose::fetches_wait_for_storage(diagnosis.signals);
  basis.waits_for_library = diagnose::fetches_wait_for_libraries(diagnosis.signals);
  // A batch's copies: those to the diagnosed device behind the warm-up, without the model's.
  basis.bytes_per_step = diagnosis.signals.h2d_bytes_per_step.value_or(0);
  basis.copies_per_step = diagnosis.signals.h2d_copies_per_step.value_or(0);
  basis.calibration = measured.calibration;
  basis.workers = measured.workers;
  basis.past = measured.past;
  return basis;
}

namespace {

/// Where earlier predictions of this remedy missed too often, the interval is what would have held.
void learn_from_past(const TrackRecords& past, const std::string& remedy, predict::Speedup& gain,
                     Predictions& predictions) {
  const auto record = past.find(remedy);
  if (record == past.end() || !predict::was_too_sure(record->second)) return;
  gain = predict::widened(gain, record->second);
  predictions.notes.push_back(fmt::format(
      "{}: {} of {} earlier predictions here missed, so the interval is as wide as their errors "
      "were ({}; `unstarve report --predictions`)",
      remedy, record->second.tried - record->second.held, record->second.tried,
      percent_text(record->second.wide_error)));
}

}  // namespace

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
    auto gain = predict::predict_speedup(basis.pipeline, *edit, options);
    if (gain && basis.training_cores.value_or(1) > kMoreThanOneCore) {
      gain = beside_training(*gain, *edit, diagnosis.signals, basis);
    }
    if (gain) {
      widen_for_another_run(*edit, basis.machine.cores, *gain);
      widen_for_few_steps(basis.pipeline.steps.size(), *gain);
      widen_for_neighbours(diagnosis.signals, *gain);
      learn_from_past(basis.past, remedy.id, *gain, predictions);
      predictions.gains.emplace(remedy.id, *gain);
    }
    const std::string& lacks = gain ? edit->lacks : gain.error().message;
    const bool is_shown = !gain || gain->low > 1;
    if (is_shown && !lacks.empty()) {
      predictions.notes.push_back(fmt::format("{}: {}", remedy.id, lacks));
    }
  }
  if (!predictions.gains.empty()) {
    for (std::string& note : what_widens(diagnosis.signals, basis.pipeline.steps.size())) {
      predictions.notes.push_back(std::move(note));
    }
  }
  hold_to_the_other_ranks(diagnosis.ranks, predictions);
  const std::size_t recorded = basis.pipeline.steps_recorded;
  if (!predictions.gains.empty() && recorded > 0 && recorded < basis.pipeline.steps.size()) {
    predictions.notes.push_back(
        fmt::format("the predictions take the GPU's times from {} of {} steps, those in which it "
                    "was recorded",
                    recorded, basis.pipeline.steps.size()));
  }
  return predictions;
}

Predictions predict_edits(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
                          const TrackRecords& past) {
  Predictions predictions;
  const auto steps = static_cast<std::size_t>(diagnosis.signals.step_count.value_or(0));
  if (steps < kFewestStepsToJudge) return predictions;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    if (!is_worth_a_remedy(finding)) continue;
    const Situation situation{.signals = diagnosis.signals,
                              .job = job,
                              .line = diagnose::line_of(finding),
                              .work = diagnose::work_at_line_of(finding),
                              .line_time = line_time(diagnosis, finding)};
    for (const std::string& rule : finding.reasons) {
      for (const Remedy& remedy : offers(situation, {rule})) {
        const CatalogueEntry& entry = *find_entry(remedy.id);
        if (!entry.edit || predictions.gains.count(remedy.id) != 0) continue;
        const Reading<predict::StepEdit> edit = entry.edit(situation, rule);
        if (!edit) continue;
        predict::Speedup gain = predict::predict_step_edit(*edit);
        gain.low /= 1 + kLeastOtherRun;
        gain.high *= 1 + kLeastOtherRun;
        widen_for_few_steps(steps, gain);
        learn_from_past(past, remedy.id, gain, predictions);
        predictions.gains.emplace(remedy.id, gain);
      }
    }
  }
  hold_to_the_other_ranks(diagnosis.ranks, predictions);
  return predictions;
}

}  // namespace unstarve::advise
