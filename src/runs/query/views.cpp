#include "runs/query/views.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "runs/index.h"
#include "trace/store/columns.h"

namespace unstarve::runs {

namespace {

using trace::Database;

constexpr std::array kRunTables = {
    "run",       "process",       "step",    "loader",    "wait",    "fetch",     "sync",
    "stack",     "stack_sample",  "stage",   "host_work", "device",  "metric",    "sample",
    "gpu_error", "device_window", "thinned", "ring",      "finding", "prediction"};
constexpr std::array kRunViews = {"steps", "samples", "findings", "trials"};
constexpr std::array kFolderViews = {"runs", "findings", "trials"};

/// A column of a view over one table.
struct ViewColumn {
  const char* name;
  const char* needs;       // the table's column that it is made of; "": none
  std::string expression;  // in SQL
};

std::string quoted(const std::string& text) {
  std::string sql = "'";
  for (const char c : text) sql += c == '\'' ? "''" : std::string(1, c);
  return sql + "'";
}

/// `table`: whose columns are looked for; `from`: what the view reads.
Result<std::string> view_sql(const Database& store, const char* view, const char* table,
                             const std::string& from, const std::vector<ViewColumn>& columns) {
  const auto known = trace::column_names(store, table);
  if (!known) return forward_error(known);
  std::string list;
  for (const ViewColumn& column : columns) {
    const bool there = column.needs[0] == '\0' || known->count(column.needs) > 0;
    list += fmt::format("{}{} AS {}", list.empty() ? "" : ", ",
                        there && !known->empty() ? column.expression : "NULL", column.name);
  }
  return fmt::format("CREATE TEMP VIEW {} AS SELECT {} {};", view, list,
                     known->empty() ? "WHERE 0" : "FROM " + from);
}

std::vector<ViewColumn> step_columns(std::int64_t started_ns) {
  return {
      {"pid", "pid", "pid"},
      {"step", "idx", "idx"},
      {"began_s", "start_ns", fmt::format("(start_ns - {}) / 1e9", started_ns)},
      {"duration_ms", "end_ns", "(end_ns - start_ns) / 1e6"},
      {"samples", "samples", "samples"},
      {"told_by", "source",
       "CASE source WHEN 0 THEN 'optimizer' WHEN 2 THEN 'batch' WHEN 3 THEN 'backward' WHEN 4 "
       "THEN 'model_call' END"},
  };
}

std::vector<ViewColumn> sample_columns(std::int64_t started_ns) {
  return {
      {"t_s", "t_ns", fmt::format("(sample.t_ns - {}) / 1e9", started_ns)},
      {"metric", "", "metric.name"},
      {"subject", "", "metric.subject"},
      {"value", "value", "sample.value"},
      {"unit", "", "metric.unit"},
      {"absent", "absent", "sample.absent"},
  };
}

/// `run`: an expression for the run's name. `leading`: for the index of the finding that leads.
std::vector<ViewColumn> finding_columns(const std::string& run, const std::string& leading) {
  return {
      {"run", "", run},
      {"position", "idx", "idx"},
      {"leads", "idx", fmt::format("idx IS {}", leading)},
      {"cause", "cause", "cause"},
      {"detail", "detail", "detail"},
      {"share_ratio", "share", "share"},
      {"confidence", "confidence", "confidence"},
      {"evidence", "evidence", "evidence"},
      {"remedies", "remedies", "remedies"},
  };
}

std::vector<ViewColumn> trial_columns(const std::string& run) {
  return {
      {"run", "", run},
      {"remedy", "remedy", "remedy"},
      {"predicted_speedup", "predicted_speedup", "predicted_speedup"},
      {"predicted_low", "low", "low"},
      {"predicted_high", "high", "high"},
      {"measured_speedup", "measured_speedup", "measured_speedup"},
      {"measured_low", "measured_low", "measured_low"},
      {"measured_high", "measured_high", "measured_high"},
      {"held", "held", "held"},
  };
}

/// The index of the finding that leads; "NULL" where there is none.
std::string leading_index(const trace::RunReader& run) {
  if (const std::string kept = run.info("leading_finding"); !kept.empty()) {
    return std::to_string(run.number("leading_finding"));
  }
  CollectedRun only;
  if (auto findings = run.findings()) only.findings = *std::move(findings);
  const trace::FindingRow* const leading = leading_finding(only);
  return leading == nullptr ? "NULL" : std::to_string(leading->index);
}

// Tables, not views: what they are made of is then dropped, and only they can be read.
constexpr const char* kFolderTables = R"(
BEGIN;
CREATE TABLE runs AS SELECT
  run.name AS run,
  CASE WHEN started_wall_ns > 0
       THEN strftime('%Y-%m-%d %H:%M:%S', started_wall_ns / 1000000000, 'unixepoch') END AS began,
  nullif(started_wall_ns, 0) / 1e9 AS began_s,
  duration_s, state.state AS state, exit_code, exit_signal, nullif(command, '') AS command,
  nullif(stage, '') AS stage, nullif(host, '') AS host, nullif(device_kind, '') AS device_kind,
  nullif(device_name, '') AS device, steps, step_us / 1e3 AS step_ms, samples_per_s, au_ratio,
  gpu_idle_ratio, state.cause AS cause, state.detail AS detail, state.share AS share_ratio,
  nullif(tags, '') AS tags, nullif(note, '') AS note, size_bytes,
  nullif(unstarve_version, '') AS unstarve_version, nullif(problem, '') AS problem
FROM run
LEFT JOIN state ON state.run = run.name
ORDER BY started_wall_ns DESC, run.name DESC;
CREATE TABLE findings AS SELECT
  finding.run AS run, idx AS position, idx IS state.leading AS leads, finding.cause AS cause,
  finding.detail AS detail,
  finding.share AS share_ratio, confidence, evidence, remedies
FROM finding LEFT JOIN state ON state.run = finding.run ORDER BY finding.rowid;
CREATE TABLE trials AS SELECT
  run, remedy, predicted_speedup, low AS predicted_low, high AS predicted_high, measured_speedup,
  measured_low, measured_high, held
FROM prediction ORDER BY rowid;
DROP TABLE about; DROP TABLE state; DROP TABLE run; DROP TABLE finding; DROP TABLE prediction;
COMMIT;
)";

Status insert_states(const Collection& collection, const std::vector<RunState>& states,
                     Database& database) {
  Status made = database.execute(
      "CREATE TABLE state (run TEXT PRIMARY KEY, state TEXT, leading INTEGER, cause TEXT, "
      "detail TEXT, share REAL) WITHOUT ROWID");
  if (!made) return made;
  auto insert = database.prepare("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?)");
  if (!insert) return forward_error(insert);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const CollectedRun& run = collection.runs[i];
    const trace::FindingRow* const leading = leading_finding(run);
    const std::string& name = run.summary.name;
    made = leading == nullptr
               ? insert->run({name, to_string(states[i]), nullptr, nullptr, nullptr, nullptr})
               : insert->run({name, to_string(states[i]), leading->index, leading->cause,
                              leading->detail, leading->share});
    if (!made) return made;
  }
  return {};
}

}  // namespace

std::span<const char* const> run_tables() { return kRunTables; }
std::span<const char* const> run_views() { return kRunViews; }
std::span<const char* const> folder_views() { return kFolderViews; }

Status make_run_views(Database& store, const trace::RunReader& run, const std::string& name) {
  const std::int64_t started_ns = run.number("started_ns");
  const std::string named = quoted(name);
  const Result<std::string> views[] = {
      view_sql(store, "steps", "step", "main.step", step_columns(started_ns)),
      view_sql(store, "samples", "sample",
               "main.sample JOIN main.metric ON metric.id = sample.metric_id",
               sample_columns(started_ns)),
      view_sql(store, "findings", "finding", "main.finding",
               finding_columns(named, leading_index(run))),
      view_sql(store, "trials", "prediction", "main.prediction", trial_columns(named)),
  };
  for (const Result<std::string>& sql : views) {
    if (!sql) return forward_error(sql);
    if (Status made = store.execute(sql->c_str()); !made) return made;
  }
  return {};
}

Result<Database> make_folder_tables(const Collection& collection,
                                    const std::vector<RunState>& states) {
  auto database = tables_of(collection.runs);
  if (!database) return database;
  Status made = insert_states(collection, states, *database);
  if (made) made = database->execute(kFolderTables);
  if (!made) return forward_error(made);
  return database;
}

}  // namespace unstarve::runs
