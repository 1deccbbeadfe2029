#include "trial/trial_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "advise/catalogue.h"
#include "examine/history/trial_dirs.h"
#include "predict/verification.h"
#include "trace/run_writer.h"

namespace unstarve::trial {

namespace {

namespace fs = std::filesystem;

trace::FindingRow finding_row(std::size_t index, const diagnose::Finding& finding,
                              const std::vector<advise::Remedy>& advised) {
  nlohmann::json remedies = nlohmann::json::array();
  for (const advise::Remedy& remedy : advised) {
    remedies.push_back({{"id", remedy.id}, {"how", remedy.how}});
  }
  const auto dump = [](const nlohmann::json& json) {
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  trace::FindingRow row;
  row.index = static_cast<std::int64_t>(index);
  row.cause = finding.cause;
  row.detail = finding.detail;
  row.share = finding.share;
  row.confidence = finding.confidence == diagnose::Confidence::kClear ? "clear" : "ambiguous";
  row.evidence_json = dump(finding.evidence);
  row.remedies_json = dump(remedies);
  return row;
}

/// `base`: the run whose advice it is.
trace::PredictionRow prediction_row(const std::string& base, const std::string& remedy,
                                    const predict::Speedup& gain,
                                    const std::vector<Verification>& verification) {
  trace::PredictionRow row;
  row.remedy = remedy;
  row.predicted_speedup = gain.speedup;
  row.low = gain.low;
  row.high = gain.high;
  const auto tried = std::find_if(
      verification.begin(), verification.end(),
      [&](const Verification& entry) { return entry.remedy == remedy && entry.base == base; });
  if (tried == verification.end() || !tried->predicted) return row;
  row.measured_speedup = tried->measured.speedup;
  row.measured_low = tried->measured.low;
  row.measured_high = tried->measured.high;
  row.held = tried->held ? 1 : 0;
  return row;
}

/// The prediction of a remedy that was tried on top of another, in the store of that one's run.
Status store_on_top(const TriedJob& job, const Verification& tried) {
  const fs::path folder = fs::path(job.before.run_dir).parent_path();
  auto writer = trace::RunWriter::reopen((folder / tried.base).string());
  if (!writer) return forward_error(writer);
  (*writer)->add(prediction_row(tried.base, tried.remedy, *tried.predicted, job.verification));
  return (*writer)->commit();
}

/// What the list of a folder says was tried; a run that cannot be read any more is left out.
void read_listed(const std::string& folder, const std::vector<examine::ListedTrial>& trials,
                 TriedJob& job) {
  ExaminedTrials runs(folder, job.before);
  for (const examine::ListedTrial& trial : trials) {
    std::optional<Verification> tried = runs.verified(trial);
    if (!tried) {
      job.before.remarks.push_back(fmt::format("{} was not measured: too few steps", trial.remedy));
      continue;
    }
    if (trial.remedy == examine::kAsWritten) inherit_prediction(job.verification, *tried);
    job.verification.push_back(*std::move(tried));
  }
}

}  // namespace

Result<TriedJob> read_trials(const std::string& folder, const examine::ReadProgress& progress) {
  auto before = examine::examine(folder, progress);
  if (!before) return forward_error(before);
  TriedJob job{*std::move(before), {}};
  if (!examine::holds_trials(folder)) return job;
  if (const std::vector<examine::ListedTrial> trials = examine::read_trial_list(folder);
      !trials.empty()) {
    read_listed(folder, trials, job);
    return job;
  }
  for (const advise::CatalogueEntry& entry : advise::catalogue()) {
    const std::string run_dir = examine::trial_dir(folder, entry.id);
    if (!examine::holds_run(run_dir)) continue;
    const auto after = examine::examine_run(run_dir);
    if (!after) return forward_error(after);
    if (!job.before.measured || !after->measured) {
      job.before.remarks.push_back(fmt::format("{} was not measured: too few steps", entry.id));
      continue;
    }
    const advise::Remedy* advised = job.before.advice.find(entry.id);
    job.verification.push_back(
        verify({job.before, job.before, *after}, entry.id, advised != nullptr ? advised->how : ""));
  }
  return job;
}

examine::Examination* ExaminedTrials::find(const std::string& label) {
  if (label == examine::kBefore) return before_.measured ? &before_ : nullptr;
  const auto known = examined_.find(label);
  if (known != examined_.end()) return known->second ? &*known->second : nullptr;
  std::optional<examine::Examination>& run = examined_[label];
  if (examine::holds_run(examine::trial_dir(folder_, label))) {
    auto examined = examine::examine_run(examine::trial_dir(folder_, label));
    if (examined && examined->measured) run = *std::move(examined);
  }
  return run ? &*run : nullptr;
}

void ExaminedTrials::forget_all_but(const std::string& label) {
  std::erase_if(examined_, [&label](const auto& run) { return run.first != label; });
}

std::optional<Verification> ExaminedTrials::verified(const examine::ListedTrial& trial) {
  const examine::Examination* const base = find(trial.base);
  const examine::Examination* const opening = find(trial.opening);
  const examine::Examination* const after = find(trial.run.empty() ? trial.remedy : trial.run);
  if (base == nullptr || opening == nullptr || after == nullptr) return std::nullopt;
  Verification tried =
      verify({*base, *opening, *after, trial.again.empty() ? nullptr : find(trial.again)},
             trial.remedy, trial.how);
  if (trial.measured) settle(tried, *trial.measured, outcome_from(trial.outcome));
  tried.base = trial.base;
  tried.permanent = trial.permanent;
  tried.diff = trial.diff;
  return tried;
}

Verification verify(const TrialRuns& runs, const std::string& remedy, const std::string& how) {
  const examine::Examination& after = runs.after;
  Verification verification;
  verification.remedy = remedy;
  verification.how = how;
  const advise::Remedy* advised = runs.base.advice.find_offered(remedy);
  // Of a loader that got less than was predicted nothing was.
  verification.predicted = advised == nullptr || !after.fix.limited.empty()
                               ? Reading<predict::Speedup>(WhyAbsent::kNotObserved)
                               : advised->predicted;
  const predict::RunMeasurement& opening = *runs.opening.measured;
  const predict::Speedup measured =
      runs.again == nullptr
          ? predict::measured_speedup(opening, *after.measured)
          : predict::measured_between(opening, *after.measured, *runs.again->measured);
  settle(verification, measured, outcome_of(measured));
  if (runs.again != nullptr) verification.again = runs.again->measurement;
  verification.before = runs.base.measurement;
  verification.after = after.measurement;
  verification.partition_after = after.diagnosis.partition;
  verification.run_dir = after.run_dir;
  return verification;
}

void settle(Verification& tried, const predict::Speedup& measured, Outcome outcome) {
  tried.measured = measured;
  tried.outcome = outcome;
  tried.held = tried.predicted && predict::prediction_held(*tried.predicted, measured);
}

void inherit_prediction(const std::vector<Verification>& tried, Verification& written) {
  const Verification* only = nullptr;
  for (const Verification& verification : tried) {
    if (verification.outcome != Outcome::kKept) continue;
    if (only != nullptr) return;
    only = &verification;
  }
  if (only == nullptr || !only->predicted) return;
  written.predicted = only->predicted;
  written.held = predict::prediction_held(*only->predicted, written.measured);
}

namespace {

/// What lists of runs show of the verdict, as keys of the table `run`; only what is known.
void put_verdict(const examine::Examination& examined, trace::RunWriter& writer) {
  const diagnose::Diagnosis& diagnosis = examined.diagnosis;
  const auto put = [&writer](const char* key, const Reading<double>& value) {
    if (value) writer.put(key, fmt::format("{:.6g}", *value));
  };
  if (examined.advice.leading_finding) {
    writer.put("leading_finding", std::to_string(*examined.advice.leading_finding));
  }
  put("step_us", diagnosis.steps.median_us);
  put("samples_per_s", diagnosis.steps.samples_per_s);
  put("au_ratio", examined.measurement.au);
  if (!diagnosis.partition) return;
  const diagnose::Partition& shares = *diagnosis.partition;
  put("gpu_idle_ratio",
      shares.input_wait + shares.sync + shares.launch + shares.kernel_wait + shares.other);
}

}  // namespace

Status store_results(const TriedJob& job) {
  auto writer = trace::RunWriter::reopen(job.before.run_dir);
  if (!writer) return forward_error(writer);
  put_verdict(job.before, **writer);
  const std::vector<diagnose::Finding>& findings = job.before.diagnosis.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    (*writer)->add(finding_row(i, findings[i], job.before.advice.for_findings[i]));
  }
  for (const auto& [remedy, gain] : job.before.predictions.gains) {
    (*writer)->add(prediction_row(examine::kBefore, remedy, gain, job.verification));
  }
  if (Status kept = (*writer)->commit(); !kept) return kept;
  for (const Verification& tried : job.verification) {
    if (tried.base == examine::kBefore || !tried.predicted) continue;
    if (Status stored = store_on_top(job, tried); !stored) return stored;
  }
  return {};
}

}  // namespace unstarve::trial
