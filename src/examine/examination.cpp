#include "examine/examination.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

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
  return "No PyTorch seen in this job: no Python of it imported torch, or one was started with -I, "
         "-E or -S, which keep unstarve's hook out.";
}

bool saw_steps(const job::JobView& job) {
  return std::any_of(job.ranks().begin(), job.ranks().end(),
                     [](const job::Rank& rank) { return !rank.steps.empty(); });
}

/// `explained`: the remarks say already why there are no steps.
void measure(Examination& examined, const trace::RunReader& run, bool explained) {
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  auto measured = predict::measure_run(job.job, job.rank_index());
  if (!measured) {
    // It will not run longer for our sake.
    examined.failed = run.number("exit_code") != 0 && run.info("stopped_by").empty();
    if (!explained && !saw_steps(job.job)) {
      examined.no_steps = why_no_steps(run);
      examined.remarks.push_back(examined.no_steps);
    } else if (!explained && !examined.failed) {
      examined.remarks.push_back(measured.error().message);
    }
    return;
  }
  examined.measured = *std::move(measured);
  examined.measurement.step_us = examined.measured->mean_step_s * kMicrosecondsPerSecond;
  examined.measurement.au = examined.measured->au;
  examined.measurement.images_per_s = examined.measured->samples_per_s;
}

/// What the hook said of the job that trains.
void read_hook_text(Examination& examined, const trace::RunReader& run) {
  const auto processes = run.processes();
  if (!processes) return;
  const std::string training_text = trace::text_of_training(*processes);
  examined.workers = predict::read_worker_calibration(training_text);
  const trace::HookText text = trace::parse_hook_text(training_text);
  examined.fix_applied = text.fix_applied;
  examined.fix_refused = text.fix_refused;
  examined.fix_limited = text.fix_limited;
  if (text.data_left_out) {
    examined.remarks.emplace_back(
        "the path of the job's data is too long to be recorded: unstarve's loader was not "
        "measured on them");
  }
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

void diagnose_and_advise(Examination& examined, const diagnose::HostSignals& host) {
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  examined.job = advise::job_facts(job.job, job.rank_index());
  examined.diagnosis = diagnose::diagnose(job, host);
  examined.advice = advise::advise(examined.diagnosis, examined.job, examined.predictions);
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

/// Adds the gains of faster loading, where the job waits enough for its loader.
void predict_loading(Examination& examined, const advise::Calibration& calibration,
                     const advise::TrackRecords& past) {
  if (!advise::can_gain_by_loading(examined.diagnosis)) return;
  const trace::Timeline& timeline = examined.recording->timeline;
  const auto basis =
      advise::prediction_basis(examined.recording->partitioned, examined.diagnosis,
                               {examined.measurement.gpu_utilization_mean, examined.job_cpu,
                                examined.workers, calibration, past});
  if (!basis) {
    // Why a run has no steps was said already.
    const bool own = timeline.input == trace::InputKind::kRun;
    const bool log = timeline.input == trace::InputKind::kCsv;
    const bool already_noted =
        (own && examined.failed) || ((own || log) && !saw_steps(examined.recording->job));
    if (!already_noted) examined.remarks.push_back(basis.error().message);
    return;
  }
  advise::Predictions loading = advise::predict_gains(examined.diagnosis, examined.job, *basis);
  examined.predictions.gains.merge(loading.gains);
  std::vector<std::string>& notes = examined.predictions.notes;
  for (std::string& note : loading.notes) {  // of a late rank both say the same
    const bool already_noted = std::find(notes.begin(), notes.end(), note) != notes.end();
    if (!already_noted) notes.push_back(std::move(note));
  }
}

}  // namespace

Result<Examination> examine_run(const std::string& path) {
  auto reader = trace::RunReader::open(path);
  if (!reader) return forward_error(reader);
  auto loaded = trace::load_run_with_remarks(path);
  if (!loaded) return forward_error(loaded);
  add_profiled_windows(*reader, *loaded);

  Examination examined(std::move(loaded->timeline));
  examined.run_dir = reader->dir();
  examined.remarks = std::move(loaded->remarks);
  examined.framework = other_framework(*reader);
  measure(examined, *reader, loaded->rings_missing);
  examined.observed = examined.measured ? examined.measured->span
                                        : trace::Interval{reader->number("started_ns"),
                                                          std::numeric_limits<std::int64_t>::max()};
  const trace::Interval& span = examined.observed;
  examined.gpu = trace::job_gpu(*reader, examined.recording->partitioned.rank().process);
  const diagnose::HostSignals host = diagnose::read_host_signals(*reader, span, examined.gpu);
  Measurement& measurement = examined.measurement;
  measurement.cpu_cores = host.job_cpu_cores;
  examined.job_cpu = read_job_cpu(*reader, span);
  measurement.gpu_utilization_mean =
      trace::mean_in(*reader, "gpu.utilization_ratio", examined.gpu.subject(), span);
  // Without device records the driver's utilisation is the best that is known of the AU.
  if (!measurement.au) measurement.au = measurement.gpu_utilization_mean;
  read_hook_text(examined, *reader);
  examined.predictions = stored_predictions(*reader);
  diagnose_and_advise(examined, host);
  // Of windows the diagnosis knows more: what ran at their edges, what the steps outside waited.
  const std::vector<diagnose::DeviceDiagnosis>& devices = examined.diagnosis.devices;
  const bool windowed = std::any_of(devices.begin(), devices.end(),
                                    [](const auto& device) { return device.recorded.has_value(); });
  if (windowed) measurement.au = examined.diagnosis.partition->gpu_compute;
  examined.position =
      roofline::place_run(*reader, examined.recording->partitioned, examined.diagnosis.signals);
  return examined;
}

Result<Examination> examine_trace(const std::string& path, const ReadProgress& progress) {
  auto imported = import_file(path, progress);
  if (!imported) return forward_error(imported);
  Examination examined(std::move(imported->timeline));
  examined.remarks = std::move(imported->remarks);
  diagnose_and_advise(examined, imported->host);
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
  for (const std::string& remark : calibration.remarks) examined.remarks.push_back(remark);
  if (examined.diagnosis.findings.empty()) return;
  const advise::TrackRecords past = past_predictions(examined);
  examined.predictions = advise::predict_edits(examined.diagnosis, examined.job, past);
  predict_loading(examined, calibration, past);
  for (const std::string& note : examined.predictions.notes) examined.remarks.push_back(note);
  examined.advice = advise::advise(examined.diagnosis, examined.job, examined.predictions);
}

}  // namespace unstarve::examine
