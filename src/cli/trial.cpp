#include "cli/trial.h"

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/live_status.h"
#include "cli/observed_job.h"
#include "cli/remedies.h"
#include "predict/verification.h"
#include "trace/run_reader.h"
#include "trace/run_writer.h"

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownLines = 12;
constexpr const char* kBefore = "before";
constexpr const char* kStore = "run.sqlite";

/// The last lines of a job's output, indented, for an error message.
std::string end_of(const std::string& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > kShownLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n    " + line;
  return text;
}

/// Says when a trial has run for long enough after its first step.
class StopWatch {
 public:
  StopWatch(const Clock& clock, double stop_after_s)
      : clock_(clock), stop_after_ns_(static_cast<std::int64_t>(stop_after_s * 1e9)) {}
  bool go_on(const observe::LiveView& view) {
    if (stop_after_ns_ == 0 || view.steps == 0) return true;
    if (first_step_ns_ == 0) first_step_ns_ = clock_.now_ns();
    return clock_.now_ns() - first_step_ns_ < stop_after_ns_;
  }

 private:
  const Clock& clock_;
  std::int64_t stop_after_ns_;
  std::int64_t first_step_ns_ = 0;
};

trace::FindingRow finding_row(std::int64_t index, const diagnose::Finding& finding) {
  nlohmann::json remedies = nlohmann::json::array();
  for (const diagnose::Remedy& remedy : finding.remedies) {
    remedies.push_back({{"id", remedy.id}, {"how", remedy.how}});
  }
  const auto dump = [](const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  trace::FindingRow row;
  row.index = index;
  row.cause = finding.cause;
  row.detail = finding.detail;
  row.share = finding.share;
  row.confidence = finding.confidence == diagnose::Confidence::kClear ? "clear" : "ambiguous";
  row.evidence_json = dump(finding.evidence);
  row.remedies_json = dump(remedies);
  return row;
}

/// Those that were made with what was measured then, which cannot be measured again.
std::vector<diagnose::RemedyPrediction> stored_predictions(const std::string& run_dir) {
  std::vector<diagnose::RemedyPrediction> predictions;
  const auto reader = trace::RunReader::open(run_dir);
  if (!reader) return predictions;
  const auto rows = reader->predictions();
  if (!rows) return predictions;
  for (const trace::PredictionRow& row : *rows) {
    predictions.push_back({row.remedy, {row.predicted_speedup, row.low, row.high}});
  }
  return predictions;
}

}  // namespace

Result<Analysis> run_trial(const Installation& parts, const Trial& trial,
                           std::optional<int>& told) {
  const SteadyClock clock;
  LiveStatus status(clock, trial.label, trial.emulated);
  StopWatch watch(clock, trial.stop_after_s);
  ObservedJobOptions options;
  options.command = trial.command;
  options.environment = trial.environment;
  options.run_dir = trial.run_dir;
  options.emulated = trial.emulated;
  options.own_process_group = trial.stop_after_s > 0;
  options.output_file = trial.run_dir + "/output.log";
  options.on_tick = [&](const observe::LiveView& view) {
    status.update(view);
    return watch.go_on(view);
  };
  const auto observed = run_observed(parts, options);
  status.finish();
  if (!observed) return forward_error(observed);
  if (observed->not_started) return tl::unexpected<Error>(*observed->not_started);
  told = observed->exit.told;
  if (told) {
    return fail(ErrorCode::kCancelled, "ended by a signal ({}) during '{}'; its run is {}",
                ::strsignal(*told), trial.label, trial.run_dir);
  }
  if (observed->exit.exit_code != 0 && !observed->stopped_by_us) {
    return fail(ErrorCode::kJobFailed, "the job ({}) exited with {}; its output is {} and ends:{}",
                trial.label, observed->exit.exit_code, options.output_file,
                end_of(options.output_file));
  }
  auto analysis = analyse_run(trial.run_dir);
  if (!analysis) return forward_error(analysis);
  if (!analysis->measured) {
    return fail(ErrorCode::kNotSupported, "{}: {}", trial.label,
                analysis->remarks.empty() ? "too few steps" : analysis->remarks.front());
  }
  analysis->utilization.label = trial.label;
  return analysis;
}

Reading<predict::Speedup> prediction_of(const diagnose::Diagnosis& diagnosis,
                                        const std::string& remedy) {
  const diagnose::Remedy* advised = find_remedy(diagnosis, remedy);
  return advised == nullptr ? WhyAbsent::kNotObserved : advised->predicted;
}

report::Report to_report(const Analysis& before, const Tried& tried) {
  report::Report shown = to_report(before);
  shown.verification = tried.verification;
  for (const report::Series& curve : tried.curves) shown.utilization.push_back(curve);
  return shown;
}

report::Verification verify(const Analysis& before, const Analysis& after,
                            const std::string& remedy, const std::string& how) {
  report::Verification verification;
  verification.remedy = remedy;
  verification.how = how;
  verification.predicted = prediction_of(before.diagnosis, remedy);
  verification.measured = predict::measured_speedup(*before.measured, *after.measured);
  verification.held = verification.predicted &&
                      predict::prediction_held(*verification.predicted, verification.measured);
  verification.before = before.measurement;
  verification.after = after.measurement;
  verification.partition_after = after.diagnosis.partition;
  return verification;
}

bool holds_trials(const std::string& folder) {
  std::error_code unknown;
  return !fs::exists(fs::path(folder) / kStore, unknown) &&
         fs::exists(fs::path(folder) / kBefore / kStore, unknown);
}

Result<TriedRun> analyse_trials(const std::string& folder) {
  const std::string before_dir = (fs::path(folder) / kBefore).string();
  auto before = analyse_run(before_dir);
  if (!before) return forward_error(before);
  diagnose::attach_predictions(before->diagnosis, stored_predictions(before_dir));
  Tried tried;
  // In the order in which they are tried.
  for (const char* remedy : {kMoreWorkers, kUnstarveLoader, kUnstarveCache, kUnstarveShards}) {
    std::error_code unknown;
    const fs::path run_dir = fs::path(folder) / remedy;
    if (!fs::exists(run_dir / kStore, unknown)) continue;
    auto after = analyse_run(run_dir.string());
    if (!after) return forward_error(after);
    if (!before->measured || !after->measured) {
      before->remarks.push_back(fmt::format("{} was not measured: too few steps", remedy));
      continue;
    }
    const diagnose::Remedy* advised = find_remedy(before->diagnosis, remedy);
    tried.verification.push_back(
        verify(*before, *after, remedy, advised != nullptr ? advised->how : ""));
    after->utilization.label = remedy;
    tried.curves.push_back(after->utilization);
  }
  return TriedRun{*std::move(before), std::move(tried)};
}

Status store_results(const std::string& run_dir, const diagnose::Diagnosis& diagnosis,
                     const std::vector<report::Verification>& verification) {
  auto writer = trace::RunWriter::reopen(run_dir);
  if (!writer) return forward_error(writer);
  std::int64_t index = 0;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    (*writer)->add(finding_row(index++, finding));
  }
  for (const report::Verification& tried : verification) {
    if (!tried.predicted) continue;
    trace::PredictionRow row;
    row.remedy = tried.remedy;
    row.predicted_speedup = tried.predicted->speedup;
    row.low = tried.predicted->low;
    row.high = tried.predicted->high;
    row.measured_speedup = tried.measured.speedup;
    row.measured_low = tried.measured.low;
    row.measured_high = tried.measured.high;
    row.held = tried.held ? 1 : 0;
    (*writer)->add(row);
  }
  return (*writer)->commit();
}

}  // namespace unstarve::cli
