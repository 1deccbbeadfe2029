#include "rehearse/rehearsal.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "advise/predict_gains.h"
#include "emulated/profile/profile.h"
#include "examine/calibration/calibrate.h"
#include "launch/emulation/emulation_use.h"
#include "launch/emulation/program_check.h"
#include "rehearse/cells.h"
#include "trace/run_reader.h"
#include "trace/run_series.h"
#include "trace/text/hook_text.h"

namespace unstarve::rehearse {

namespace {

// Imports, a data set that is listed, the first batches: what a job may take before its first step.
constexpr double kFirstStepWithinS = 300;
// Kernels before the training's own rhythm: initial values, a library that tries its algorithms.
constexpr std::int64_t kWarmUpSteps = 5;

// Of the cores: above it a run is said to have been disturbed.
constexpr double kBusyOthers = 0.15;

using Priced = std::array<std::int64_t, emulated::kPricesMax>;

/// Passes on what a trial tells, and notes what the GPU had done when the warm-up was over.
class PriceWatch final : public trial::TrialListener {
 public:
  PriceWatch(launch::UseReader& use, trial::TrialListener& next) : use_(use), next_(next) {}
  void begins(const std::string& label, const std::string& description) override {
    next_.begins(label, description);
  }
  void watches(const trial::Trial& trial, const observe::LiveView& now) override {
    if (!warm_ && now.steps >= kWarmUpSteps) {
      warm_ = true;
      before_ = use_.read();
    }
    next_.watches(trial, now);
  }
  void ended(const trial::Trial& trial) override { next_.ended(trial); }

  /// Durations on each kind since the warm-up; of all the run where nothing came after it.
  Priced priced() {
    const launch::EmulationUse all = use_.read();
    Priced since = all.priced_ns;
    for (std::size_t i = 0; i < since.size(); ++i) since[i] -= before_.priced_ns[i];
    return since[0] > 0 ? since : all.priced_ns;
  }

 private:
  launch::UseReader& use_;
  trial::TrialListener& next_;
  bool warm_ = false;
  launch::EmulationUse before_;
};

Result<std::vector<emulated::Profile>> profiles_of(const std::vector<std::string>& kinds) {
  std::vector<emulated::Profile> profiles;
  for (const std::string& kind : kinds) {
    auto profile = emulated::find_profile(kind);
    if (!profile) return forward_error(profile);
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

/// What the run's store and its examination say of the pipeline.
Result<predict::RehearsedRun> run_of(const examine::Examination& examined) {
  const auto& job = examined.recording->partitioned;
  auto pipeline = predict::measure_pipeline(job.job, job.rank_index(), {});
  if (!pipeline) return forward_error(pipeline);
  predict::RehearsedRun run;
  run.pipeline = *std::move(pipeline);
  run.cores = examined.diagnosis.signals.effective_cpus.value_or(1);
  const double step_s = run.pipeline.mean_step_s();
  if (examined.measurement.cpu_cores) run.cpu_s_per_step = *examined.measurement.cpu_cores * step_s;
  const auto store = trace::RunReader::open(examined.run_dir);
  if (!store) return run;
  const auto read =
      trace::mean_in(*store, "job.read_call_bytes_per_s", "job", examined.measured->span);
  if (read) run.read_bytes_per_step = *read * step_s;
  const auto busy = trace::mean_in(*store, "host.cpu_busy_cores", "host", examined.measured->span);
  if (busy && examined.measurement.cpu_cores) {
    const double of_machine = std::max(1U, std::thread::hardware_concurrency());
    run.cores_of_others = std::max(0.0, *busy - *examined.measurement.cpu_cores) *
                          std::min(1.0, run.cores / of_machine);
  }
  return run;
}

/// What the job took at most of the GPU's memory.
Reading<double> memory_used(const examine::Examination& examined) {
  Reading<double> most = WhyAbsent::kNotObserved;
  const auto store = trace::RunReader::open(examined.run_dir);
  if (!store) return most;
  const auto series = store->series("gpu.memory_used_bytes", examined.gpu.subject());
  if (!series) return most;
  for (const trace::SeriesPoint& point : *series) {
    if (point.value) most = std::max(most.value_or(0), *point.value);
  }
  return most;
}

Reading<double> gradient_bytes(const examine::Examination& examined) {
  const auto store = trace::RunReader::open(examined.run_dir);
  if (!store) return WhyAbsent::kNotObserved;
  const auto processes = store->processes();
  if (!processes) return WhyAbsent::kNotObserved;
  const auto bytes = trace::parse_hook_text(trace::text_of_training(*processes)).gradient_bytes;
  if (!bytes) return bytes.why_absent();
  return static_cast<double>(*bytes);
}

RehearsedRunFacts facts_of(const examine::Examination& examined, const predict::RehearsedRun& run,
                           const predict::FittedPipeline& fitted) {
  RehearsedRunFacts facts;
  facts.run_dir = examined.run_dir;
  facts.steps = run.pipeline.steps.size();
  facts.cores = run.cores;
  facts.cores_of_others = run.cores_of_others;
  facts.step_s = run.pipeline.mean_step_s();
  facts.workers = run.pipeline.workers;
  facts.workers_repeat = advise::may_repeat_in_workers(examined.job.data);
  facts.samples = fitted.samples;
  facts.fetch_cpu_s = fitted.fetch_cpu_s;
  facts.host_cpu_s = fitted.host_cpu_s;
  facts.misfit_ratio = fitted.misfit_ratio;
  if (const auto* device = examined.recording->partitioned.worst(); device != nullptr) {
    facts.measured_au = 1 - device->share(diagnose::Cause::kInputWait);
  }
  facts.gradient_bytes = gradient_bytes(examined);
  if (run.read_bytes_per_step && fitted.samples > 0) {
    facts.read_bytes_per_sample = *run.read_bytes_per_step / fitted.samples;
  }
  return facts;
}

/// One run, and what its kernels take on each kind.
struct WatchedRun {
  examine::Examination examined;
  Priced priced;
  bool recorded = false;  // durations come from a trace, as far as it has them
};

Result<WatchedRun> watch_job(const launch::Installation& parts, const RehearsalOptions& options,
                             trial::TrialListener& listener) {
  launch::EmulationOptions gpu = options.emulation;
  gpu.gpu = options.kinds.front();
  gpu.gpus = 1;
  gpu.priced = options.kinds;
  auto emulation = launch::Emulation::prepare(parts, gpu);
  if (!emulation) return forward_error(emulation);
  const auto isolation =
      isolation::Isolation::choose(options.command, options.folder, options.isolation);
  if (!isolation) return forward_error(isolation);
  listener.isolated(*isolation);
  launch::UseReader use(*emulation);
  PriceWatch watch(use, listener);
  trial::Trial trial;
  trial.label = options.kinds.front();
  trial.command = options.command;
  trial.environment = {examine::worker_calibration_variable()};
  trial.run_dir = options.folder;
  trial.emulation = &*emulation;
  trial.isolation = &*isolation;
  trial.length.seconds = options.seconds;
  trial.length.steps = options.steps;
  trial.length.first_step_within_s = kFirstStepWithinS;
  listener.begins(trial.label, emulation->devices() + ", durations " + emulation->durations());
  auto examined = trial::run_trial(parts, trial, watch);
  if (!examined) return forward_error(examined);
  const Priced priced = watch.priced();
  if (priced[0] <= 0) {
    return fail(ErrorCode::kNotSupported,
                "the job ran no kernel on the emulated GPU: there is nothing to feed");
  }
  return WatchedRun{*std::move(examined), priced, emulation->durations_recorded()};
}

std::vector<RehearsedKind> kinds_of(const RehearsalOptions& options, const WatchedRun& watched,
                                    const std::vector<emulated::Profile>& profiles,
                                    double device_s) {
  const Reading<double> used = memory_used(watched.examined);
  std::vector<RehearsedKind> kinds;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    RehearsedKind kind;
    kind.name = options.kinds[i];
    kind.device_name = plain_device_name(profiles[i].device_name);
    const double ratio =
        static_cast<double>(watched.priced[i]) / static_cast<double>(watched.priced[0]);
    kind.device_s = device_s * ratio;
    kind.by = watched.recorded ? DurationsBy::kTrace : DurationsBy::kRoofline;
    if (const auto known = options.step_s.find(kind.name); known != options.step_s.end()) {
      kind.device_s = known->second;
      kind.by = DurationsBy::kStepTime;
    }
    if (used && profiles[i].total_memory_bytes > 0) {
      kind.memory_needed_ratio = *used / static_cast<double>(profiles[i].total_memory_bytes);
    }
    kinds.push_back(kind);
  }
  return kinds;
}

/// unstarve's loader on the job's images, where that is what it reads.
advise::Calibration calibration_of(const examine::Examination& examined, Rehearsal& out) {
  const std::string images = advise::image_folder(examined.job.data);
  if (images.empty() || !advise::may_load_natively(examined.job.data)) {
    out.notes.emplace_back(
        "unstarve's loader, cache and shards are not rehearsed: the job does not read a folder of "
        "images that they know");
    return {};
  }
  advise::Calibration calibration =
      examine::calibrate_images(images, examine::NativeOutput::kFloat32);
  out.notes.insert(out.notes.end(), calibration.remarks.begin(), calibration.remarks.end());
  return calibration;
}

}  // namespace

std::string_view to_string(DurationsBy by) {
  switch (by) {
    case DurationsBy::kStepTime: return "step time";
    case DurationsBy::kTrace: return "trace";
    case DurationsBy::kRoofline: return "roofline";
  }
  return "";
}

Result<Rehearsal> rehearse(const launch::Installation& parts, const RehearsalOptions& options,
                           trial::TrialListener& listener) {
  const auto profiles = profiles_of(options.kinds);
  if (!profiles) return forward_error(profiles);
  if (const std::string lacking = launch::why_not_emulated(options.command); !lacking.empty()) {
    return fail(ErrorCode::kNotSupported, "{}", lacking);
  }
  auto watched = watch_job(parts, options, listener);
  if (!watched) return forward_error(watched);
  const auto run = run_of(watched->examined);
  if (!run) return forward_error(run);
  const auto fitted = predict::fit_pipeline(*run);
  if (!fitted) return forward_error(fitted);

  Rehearsal out;
  out.target_au = options.target_au;
  out.run = facts_of(watched->examined, *run, *fitted);
  out.cores = options.cores > 0 ? options.cores : out.run.cores;
  CellBasis basis{*fitted, *profiles, {}, {}, out.run, options.target_au, out.cores};
  basis.calibration = calibration_of(watched->examined, out);
  basis.workers = watched->examined.workers;
  if (out.run.cores_of_others > kBusyOthers * out.run.cores) {
    out.notes.push_back(fmt::format(
        "other programs used {:.1f} of the {:.3g} cores during the run; the figures are for a "
        "machine without them, and surer from a run without them",
        out.run.cores_of_others, out.run.cores));
  }
  out.kinds = kinds_of(options, *watched, *profiles, mean_device_s(*fitted));
  for (std::size_t kind = 0; kind < out.kinds.size(); ++kind) {
    for (const int gpus : options.gpus) {
      listener.begins(out.kinds[kind].name, fmt::format("computing {} GPUs", gpus));
      out.cells.push_back(rehearse_cell(basis, out.kinds[kind], kind, gpus));
    }
  }
  return out;
}

}  // namespace unstarve::rehearse
