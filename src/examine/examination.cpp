#include "examine/examination.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "advise/host_verdict.h"
#include "advise/predict_gains.h"
#include "base/units.h"
#include "diagnose/signals/run_signals.h"
#include "examine/history/trial_dirs.h"
#include "examine/history/tried_predictions.h"
#include "examine/imported/imported_file.h"
#include "observe/profiled/profiled_window.h"
#include "roofline/placing/placing.h"
#include "trace/json/json_text.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"
#include "trace/run_series.h"
#include "trace/text/hook_text.h"

namespace unstarve::examine {

namespace {

namespace fs = std::filesystem;

/// Python's word for "take nothing from the environment" in a job's command: "-I"; empty where it
/// has none.
std::string isolating_flag(const std::string& command) {
  const nlohmann::json words = trace::parse_json(command);
  if (!words.is_array()) return {};
  bool of_python = false;
  for (const nlohmann::json& json : words) {
    const std::string word = json.is_string() ? json.get<std::string>() : std::string();
    const bool flag = word.size() > 1 && word[0] == '-' && word[1] != '-';
    if (of_python && flag && word.find_first_of("cm") == std::string::npos) {
      if (word.find_first_of("IES") != std::string::npos) return word;
    } else {
      of_python = fs::path(word).filename().string().compare(0, 6, "python") == 0;
    }
  }
  return {};
}

/// Of a job without PyTorch, what its processes have imported in its place; empty: nothing known.
std::string other_framework(const trace::RunReader& run) {
  const auto processes = run.processes();
  if (!processes) return {};
  std::string found;
  for (const trace::ProcessRecord& process : *processes) {
    const nlohmann::json text = trace::parse_json(process.text);
    if (!text.is_object()) continue;
    if (text.contains("torch")) return {};
    const auto named = text.find("framework");
    if (named != text.end() && named->is_string()) found = named->get<std::string>();
  }
  return found;
}

/// Why a job was not seen to train.
std::string why_no_steps(const trace::RunReader& run) {
  const auto processes = run.processes();
  if (const std::string other = other_framework(run); !other.empty()) {
    return fmt::format(
        "No PyTorch seen in this job, but {}, whose loops cannot be watched from inside; and no "
        "kernels that repeat were recorded.",
        other);
  }
  if (!processes || !processes->empty()) {
    return "No training step was seen: in the job's PyTorch no optimizer stepped and no DataLoader "
           "gave batches.";
  }
  if (const std::string flag = isolating_flag(run.info("command")); !flag.empty()) {
    return fmt::format(
        "No PyTorch seen in this job: `python {}` keeps unstarve's hook out, which comes by "
        "PYTHONPATH. Start Python without {}.",
        flag, flag);
  }
  if (run.number("exit_code") != 0 && run.info("stopped_by").empty()) {
    return "The job failed before any Python of it imported torch: its own output says why.";
  }
  return "No PyTorch seen in this job: no Python of it imported torch, or one was started with -I, "
         "-E or -S, which keep unstarve's hook out.";
}

bool saw_steps(const job::JobView& job) {
  return std::any_of(job.ranks().begin(), job.ranks().end(),
                     [](const job::Rank& rank) { return !rank.steps.empty(); });
}

/// What could be measured of a run, or why nothing could.
struct Measured {
  std::optional<predict::RunMeasurement> run;
  bool failed = false;
  std::string no_steps;
  std::vector<std::string> remarks;
};

/// `explained`: the remarks say already why there are no steps.
Measured measure(const Recording& recording, const trace::RunReader& run, bool explained) {
  Measured found;
  const diagnose::PartitionedJob& job = recording.partitioned;
  auto measured = predict::measure_run(job.job, job.rank_index());
  if (measured) {
    found.run = *std::move(measured);
    return found;
  }
  // It will not run longer for our sake.
  found.failed = run.number("exit_code") != 0 && run.info("stopped_by").empty();
  if (!explained && !saw_steps(job.job)) {
    found.no_steps = why_no_steps(run);
    found.remarks.push_back(found.no_steps);
  } else if (!explained && !found.failed) {
    found.remarks.push_back(measured.error().message);
  }
  return found;
}

/// What the hook said of the job that trains.
struct HookWords {
  predict::CalibrationText workers;
  FixAnswer fix;
  std::vector<std::string> remarks;
};

HookWords read_hook_text(const trace::RunReader& run) {
  HookWords found;
  const auto processes = run.processes();
  if (!processes) return found;
  const std::string training_text = trace::text_of_training(*processes);
  found.workers = predict::read_worker_calibration(training_text);
  const trace::HookText text = trace::parse_hook_text(training_text);
  found.fix = {text.fix_applied, text.fix_refused, text.fix_limited};
  if (text.data_left_out) {
    found.remarks.emplace_back(
        "the path of the job's data is too long to be recorded: unstarve's loader was not "
        "measured on them");
  }
  return found;
}

/// Adds what the hook had torch.profiler record, for processes whose GPU nothing else watched.
void add_profiled_windows(const trace::RunReader& run, trace::LoadedRun& loaded) {
  const auto processes = run.processes();
  if (!processes) return;
  for (const trace::ProcessRecord& process : *processes) {
    const std::int64_t pid = process.row.id.pid;
    const trace::ProfileText profile = trace::parse_hook_text(process.text).profile;
    if (profile.file.empty() || observe::has_device_activity(loaded.timeline, pid)) continue;
    const std::string path = run.dir() + "/" + profile.file;
    const Status added = observe::add_profiled_window(path, pid, profile, loaded.timeline);
    if (!added) {
      loaded.remarks.push_back("what torch.profiler recorded is left out: " +
                               added.error().message);
    }
  }
}

/// What the recording shows, and what is to be done.
struct Verdict {
  advise::JobFacts job;
  diagnose::Diagnosis diagnosis;
  advise::Advice advice;
};

Verdict diagnose_and_advise(const diagnose::PartitionedJob& job, const diagnose::HostSignals& host,
                            const advise::Predictions& predictions) {
  Verdict verdict;
  verdict.job = advise::job_facts(job.job, job.rank_index());
  verdict.diagnosis = diagnose::diagnose(job, host);
  verdict.advice = advise::advise(verdict.diagnosis, verdict.job, predictions);
  return verdict;
}

/// `gpu_utilization`: by the driver, whose word is the best that is known of the AU without records
/// of the device. Of windows the diagnosis knows more: what ran at their edges, what the steps
/// outside waited.
Measurement measurement_of(const std::optional<predict::RunMeasurement>& run,
                           const diagnose::Diagnosis& diagnosis, const diagnose::HostSignals& host,
                           const Reading<double>& gpu_utilization) {
  Measurement measurement;
  if (run) {
    measurement.step_us = run->mean_step_s * kMicrosecondsPerSecond;
    measurement.au = run->au;
    measurement.samples_per_s = run->samples_per_s;
  }
  measurement.cpu_cores = host.job_cpu_cores;
  measurement.gpu_utilization_mean = gpu_utilization;
  if (!measurement.au) measurement.au = gpu_utilization;
  const bool windowed = std::any_of(diagnosis.devices.begin(), diagnosis.devices.end(),
                                    [](const auto& device) { return device.recorded.has_value(); });
  if (windowed && diagnosis.partition) measurement.au = diagnosis.partition->gpu_compute;
  return measurement;
}

/// Each reading of the sampler is a mean since the one before.
std::vector<predict::CpuReading> read_job_cpu(const trace::RunReader& run,
                                              const trace::Interval& when) {
  std::vector<predict::CpuReading> readings;
  bool known = false;  // when the reading before it was made
  for (const trace::SampledSpan& span : trace::spans_in(run, "job.cpu_cores", "job", when)) {
    if (known && span.value) readings.push_back({span.when, *span.value});
    known = span.value.has_value();
  }
  return readings;
}

/// Those that were made with what was measured then, which cannot be measured again.
advise::Predictions stored_predictions(const trace::RunReader& run) {
  advise::Predictions predictions;
  const auto rows = run.predictions();
  if (!rows) return predictions;
  for (const trace::PredictionRow& row : *rows) {
    predictions.gains[row.remedy] = {row.predicted_speedup, row.low, row.high};
  }
  return predictions;
}

/// Those of the runs beside this one.
std::map<std::string, predict::TrackRecord> past_predictions(const Examination& examined) {
  if (examined.run_dir.empty()) return {};
  const auto tried = read_tried_predictions(folder_of_runs(examined.run_dir));
  if (!tried) return {};
  return predict::track_records(*tried);
}

/// The gains of faster loading, where the job waits enough for its loader; why there are none.
struct LoadingGains {
  advise::Predictions predictions;
  std::vector<std::string> remarks;
};

LoadingGains predict_loading(const Examination& examined, const advise::Calibration& calibration,
                             const advise::TrackRecords& past) {
  if (!advise::can_gain_by_loading(examined.diagnosis)) return {};
  const auto basis =
      advise::prediction_basis(examined.recording->partitioned, examined.diagnosis,
                               {examined.measurement.gpu_utilization_mean, examined.job_cpu,
                                examined.workers, calibration, past});
  if (basis) return {advise::predict_gains(examined.diagnosis, examined.job, *basis), {}};
  // Why a run has no steps was said already.
  const trace::InputKind input = examined.recording->timeline.input;
  const bool own = input == trace::InputKind::kRun;
  const bool log = input == trace::InputKind::kCsv;
  const bool already_noted =
      (own && examined.failed) || ((own || log) && !saw_steps(examined.recording->job));
  if (already_noted) return {};
  return {{}, {basis.error().message}};
}

/// Both; of a late rank both may note the same.
advise::Predictions merged(advise::Predictions edits, advise::Predictions loading) {
  edits.gains.merge(loading.gains);
  for (std::string& note : loading.notes) {
    const bool already_noted =
        std::find(edits.notes.begin(), edits.notes.end(), note) != edits.notes.end();
    if (!already_noted) edits.notes.push_back(std::move(note));
  }
  return edits;
}

void conclude(Examination& examined, Verdict verdict) {
  examined.job = std::move(verdict.job);
  examined.diagnosis = std::move(verdict.diagnosis);
  examined.advice = std::move(verdict.advice);
}

void append(std::vector<std::string>& remarks, const std::vector<std::string>& more) {
  remarks.insert(remarks.end(), more.begin(), more.end());
}

}  // namespace

Result<Examination> examine_run(const std::string& path) {
  auto reader = trace::RunReader::open(path);
  if (!reader) return forward_error(reader);
  auto loaded = trace::load_run_with_remarks(path);
  if (!loaded) return forward_error(loaded);
  add_profiled_windows(*reader, *loaded);

  Examination examined(std::move(loaded->timeline));
  const Recording& recording = *examined.recording;
  examined.run_dir = reader->dir();
  examined.framework = other_framework(*reader);
  Measured measured = measure(recording, *reader, loaded->rings_missing);
  HookWords hook = read_hook_text(*reader);
  for (const auto* const remarks : {&loaded->remarks, &measured.remarks, &hook.remarks}) {
    append(examined.remarks, *remarks);
  }
  examined.measured = std::move(measured.run);
  examined.failed = measured.failed;
  examined.no_steps = std::move(measured.no_steps);
  examined.workers = std::move(hook.workers);
  examined.fix = std::move(hook.fix);
  examined.observed = examined.measured ? examined.measured->span
                                        : trace::Interval{reader->number("started_ns"),
                                                          std::numeric_limits<std::int64_t>::max()};
  examined.gpu = trace::job_gpu(*reader, recording.partitioned.rank().process);
  examined.job_cpu = read_job_cpu(*reader, examined.observed);
  examined.predictions = stored_predictions(*reader);
  const diagnose::HostSignals host =
      diagnose::read_host_signals(*reader, examined.observed, examined.gpu);
  conclude(examined, diagnose_and_advise(recording.partitioned, host, examined.predictions));
  examined.measurement = measurement_of(
      examined.measured, examined.diagnosis, host,
      trace::mean_in(*reader, "gpu.utilization_ratio", examined.gpu.subject(), examined.observed));
  examined.position =
      roofline::place_run(*reader, recording.partitioned, examined.diagnosis.signals);
  examined.usage = cost::usage_of(*reader, recording.partitioned, examined.diagnosis);
  return examined;
}

Result<Examination> examine_trace(const std::string& path, const ReadProgress& progress) {
  auto imported = import_file(path, progress);
  if (!imported) return forward_error(imported);
  Examination examined(std::move(imported->timeline));
  examined.remarks = std::move(imported->remarks);
  conclude(examined, diagnose_and_advise(examined.recording->partitioned, imported->host, {}));
  examined.usage = cost::usage_of(examined.recording->partitioned, examined.diagnosis);
  return examined;
}

Result<Examination> examine(const std::string& path, const ReadProgress& progress) {
  std::error_code unreadable;
  const fs::path file(path);
  const bool trials = holds_trials(path);
  bool run = trials || fs::is_directory(file, unreadable);
  if (!run && file.extension() == ".sqlite") {
    const auto exported = is_export(path);
    if (!exported) return forward_error(exported);
    run = !*exported;
  }
  auto examined =
      run ? examine_run(trials ? trial_dir(path, kBefore) : path) : examine_trace(path, progress);
  if (examined && examined->predictions.gains.empty()) predict(*examined, {});
  return examined;
}

void predict(Examination& examined, const advise::Calibration& calibration) {
  append(examined.remarks, calibration.remarks);
  if (examined.diagnosis.findings.empty()) return;
  const advise::TrackRecords past = past_predictions(examined);
  LoadingGains loading = predict_loading(examined, calibration, past);
  examined.predictions = merged(advise::predict_edits(examined.diagnosis, examined.job, past),
                                std::move(loading.predictions));
  append(examined.remarks, loading.remarks);
  append(examined.remarks, examined.predictions.notes);
  examined.advice = advise::advise(examined.diagnosis, examined.job, examined.predictions);
}

}  // namespace unstarve::examine
