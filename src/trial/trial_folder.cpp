#include "trial/trial_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "advise/catalogue.h"
#include "predict/verification.h"
#include "trace/run_writer.h"

namespace unstarve::trial {

namespace {

namespace fs = std::filesystem;

bool holds_run(const fs::path& folder) {
  std::error_code unknown;
  return fs::exists(folder / "run.sqlite", unknown);
}

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

trace::PredictionRow prediction_row(const std::string& remedy, const predict::Speedup& gain,
                                    const std::vector<Verification>& verification) {
  trace::PredictionRow row;
  row.remedy = remedy;
  row.predicted_speedup = gain.speedup;
  row.low = gain.low;
  row.high = gain.high;
  const auto tried = std::find_if(verification.begin(), verification.end(),
                                  [&remedy](const Verification& v) { return v.remedy == remedy; });
  if (tried == verification.end()) return row;
  row.measured_speedup = tried->measured.speedup;
  row.measured_low = tried->measured.low;
  row.measured_high = tried->measured.high;
  row.held = tried->held ? 1 : 0;
  return row;
}

}  // namespace

std::string trial_dir(const std::string& folder, const std::string& label) {
  return (fs::path(folder) / label).string();
}

bool holds_trials(const std::string& folder) {
  return !holds_run(folder) && holds_run(trial_dir(folder, kBefore));
}

Result<TriedJob> read_trials(const std::string& folder, const ReadProgress& progress) {
  auto before = examine(folder, progress);
  if (!before) return forward_error(before);
  TriedJob job{*std::move(before), {}};
  if (!holds_trials(folder)) return job;
  for (const advise::CatalogueEntry& entry : advise::catalogue()) {
    const std::string run_dir = trial_dir(folder, entry.id);
    if (!holds_run(run_dir)) continue;
    const auto after = examine_run(run_dir);
    if (!after) return forward_error(after);
    if (!job.before.measured || !after->measured) {
      job.before.remarks.push_back(fmt::format("{} was not measured: too few steps", entry.id));
      continue;
    }
    const advise::Remedy* advised = job.before.advice.find(entry.id);
    job.verification.push_back(
        verify(job.before, *after, entry.id, advised != nullptr ? advised->how : ""));
  }
  return job;
}

Verification verify(const Examination& before, const Examination& after, const std::string& remedy,
                    const std::string& how) {
  Verification verification;
  verification.remedy = remedy;
  verification.how = how;
  const advise::Remedy* advised = before.advice.find(remedy);
  verification.predicted =
      advised == nullptr ? Reading<predict::Speedup>(WhyAbsent::kNotObserved) : advised->predicted;
  verification.measured = predict::measured_speedup(*before.measured, *after.measured);
  verification.held = verification.predicted &&
                      predict::prediction_held(*verification.predicted, verification.measured);
  verification.before = before.measurement;
  verification.after = after.measurement;
  verification.partition_after = after.diagnosis.partition;
  verification.run_dir = after.run_dir;
  return verification;
}

Status store_results(const TriedJob& job) {
  auto writer = trace::RunWriter::reopen(job.before.run_dir);
  if (!writer) return forward_error(writer);
  const std::vector<diagnose::Finding>& findings = job.before.diagnosis.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    (*writer)->add(finding_row(i, findings[i], job.before.advice.for_findings[i]));
  }
  for (const auto& [remedy, gain] : job.before.predictions.gains) {
    (*writer)->add(prediction_row(remedy, gain, job.verification));
  }
  return (*writer)->commit();
}

}  // namespace unstarve::trial
