#include "report/runs/runs_json.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json value_or_null(const Reading<Value>& reading) {
  return reading ? Json(*reading) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json finding_json(const trace::FindingRow& finding) {
  return {{"cause", finding.cause},
          {"detail", finding.detail},
          {"share", finding.share},
          {"confidence", finding.confidence}};
}

Json prediction_json(const trace::PredictionRow& row) {
  Json held = nullptr;
  if (row.held) held = *row.held != 0;
  return {{"remedy", row.remedy},
          {"predicted_speedup", row.predicted_speedup},
          {"predicted_low", row.low},
          {"predicted_high", row.high},
          {"measured_speedup", value_or_null(row.measured_speedup)},
          {"measured_low", value_or_null(row.measured_low)},
          {"measured_high", value_or_null(row.measured_high)},
          {"held", std::move(held)}};
}

Json run_json(const runs::ListedRun& listed, const std::string& folder) {
  const runs::CollectedRun& run = *listed.run;
  const runs::RunSummary& summary = run.summary;
  const trace::FindingRow* const leading = runs::leading_finding(run);
  Json findings = Json::array();
  for (const trace::FindingRow& finding : run.findings) findings.push_back(finding_json(finding));
  Json predictions = Json::array();
  for (const trace::PredictionRow& row : run.predictions) {
    predictions.push_back(prediction_json(row));
  }
  return {{"name", listed.name},
          {"run_dir", folder + "/" + summary.name},
          {"of_runs", listed.of_runs},
          {"state", runs::to_string(listed.state)},
          {"problem", text_or_null(summary.problem)},
          {"started_s", static_cast<double>(summary.started_wall_ns) * kSecondsPerNs},
          {"duration_s", value_or_null(summary.duration_s)},
          {"exit_code", value_or_null(summary.exit_code)},
          {"exit_signal", value_or_null(summary.exit_signal)},
          {"stopped_by_unstarve", summary.stopped_by_us},
          {"attached_pid", value_or_null(summary.attached_pid)},
          {"command", runs::command_of(summary)},
          {"stage", text_or_null(summary.stage)},
          {"host", summary.host},
          {"device_kind", summary.device_kind},
          {"device_name", summary.device_name},
          {"unstarve_version", summary.unstarve_version},
          {"steps", value_or_null(summary.steps)},
          {"step_us", value_or_null(summary.step_us)},
          {"samples_per_s", value_or_null(summary.samples_per_s)},
          {"au_ratio", value_or_null(summary.au_ratio)},
          {"gpu_idle_ratio", value_or_null(summary.gpu_idle_ratio)},
          {"verdict", leading == nullptr ? Json(nullptr) : finding_json(*leading)},
          {"findings", std::move(findings)},
          {"predictions", std::move(predictions)},
          {"tags", runs::tags_of(summary)},
          {"note", text_or_null(summary.note)},
          {"size_bytes", summary.size_bytes}};
}

}  // namespace

std::string runs_json(const std::vector<runs::ListedRun>& listed, const std::string& folder) {
  Json all = Json::array();
  for (const runs::ListedRun& run : listed) all.push_back(run_json(run, folder));
  return json_text(
      Json{{"schema", "unstarve.runs/1"}, {"folder", folder}, {"runs", std::move(all)}});
}

}  // namespace unstarve::report
