#pragma once

#include <string>
#include <tuple>

#include "runs/run_summary.h"
#include "trace/store/columns.h"
#include "trace/store/tables.h"

namespace unstarve::runs {

/// A finding, and a prediction, with the run that it is of.
struct IndexedFinding {
  std::string run;
  trace::FindingRow row;
};
struct IndexedPrediction {
  std::string run;
  trace::PredictionRow row;
};

}  // namespace unstarve::runs

namespace unstarve::trace {

// The tables of the index of a folder of runs, which are also those that queries over a folder
// read.

template <>
struct Table<runs::RunSummary> {
  using Run = runs::RunSummary;
  static constexpr const char* kName = "run";
  static constexpr std::string_view kKey = "name";
  static constexpr auto kColumns = std::tuple(
      column("name", &Run::name), column("fingerprint", &Run::fingerprint),
      column("changed_ns", &Run::changed_ns), column("read_ns", &Run::read_ns),
      column("problem", &Run::problem), column("run_id", &Run::run_id),
      column("command", &Run::command_json), column("started_wall_ns", &Run::started_wall_ns),
      column("has_ended", &Run::has_ended), column("duration_s", &Run::duration_s),
      column("exit_code", &Run::exit_code), column("exit_signal", &Run::exit_signal),
      column("stopped_by_us", &Run::stopped_by_us), column("attached_pid", &Run::attached_pid),
      column("stage", &Run::stage), column("host", &Run::host),
      column("device_kind", &Run::device_kind), column("device_name", &Run::device_name),
      column("unstarve_version", &Run::unstarve_version), column("watcher", &Run::watcher),
      column("steps", &Run::steps), column("step_us", &Run::step_us),
      column("samples_per_s", &Run::samples_per_s), column("au_ratio", &Run::au_ratio),
      column("gpu_idle_ratio", &Run::gpu_idle_ratio),
      column("leading_finding", &Run::leading_finding), column("tags", &Run::tags),
      column("note", &Run::note), column("size_bytes", &Run::size_bytes));
};

template <>
struct Table<runs::IndexedFinding> : WithoutKey {
  using Finding = runs::IndexedFinding;
  static constexpr const char* kName = "finding";
  static constexpr auto kRow = &Finding::row;
  static constexpr auto kColumns =
      std::tuple(column("run", &Finding::run), column("idx", in(kRow, &FindingRow::index)),
                 column("cause", in(kRow, &FindingRow::cause)),
                 column("detail", in(kRow, &FindingRow::detail)),
                 column("share", in(kRow, &FindingRow::share)),
                 column("confidence", in(kRow, &FindingRow::confidence)),
                 column("evidence", in(kRow, &FindingRow::evidence_json)),
                 column("remedies", in(kRow, &FindingRow::remedies_json)));
};

template <>
struct Table<runs::IndexedPrediction> : WithoutKey {
  using Prediction = runs::IndexedPrediction;
  static constexpr const char* kName = "prediction";
  static constexpr auto kRow = &Prediction::row;
  static constexpr auto kColumns = std::tuple(
      column("run", &Prediction::run), column("remedy", in(kRow, &PredictionRow::remedy)),
      column("predicted_speedup", in(kRow, &PredictionRow::predicted_speedup)),
      column("low", in(kRow, &PredictionRow::low)), column("high", in(kRow, &PredictionRow::high)),
      column("measured_speedup", in(kRow, &PredictionRow::measured_speedup)),
      column("measured_low", in(kRow, &PredictionRow::measured_low)),
      column("measured_high", in(kRow, &PredictionRow::measured_high)),
      column("held", in(kRow, &PredictionRow::held)));
};

}  // namespace unstarve::trace
