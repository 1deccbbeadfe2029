#include "trace/store/run_schema.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "trace/store/tables.h"

namespace unstarve::trace {

namespace {

std::string tables() {
  return create_sql<ProcessRecord>() + create_sql<StepRow>() + create_sql<LoaderRow>() +
         create_sql<WaitRow>() + create_sql<FetchRow>() + create_sql<SyncRow>() +
         create_sql<DeviceRow>() + create_sql<RingMark>() + create_sql<MetricRow>() +
         create_sql<SampleRow>() + create_sql<FindingRow>() + create_sql<PredictionRow>();
}

/// Those that runs of earlier versions do not have.
std::string later_tables() {
  return create_sql<StageRow>() +
         "CREATE TABLE IF NOT EXISTS stack (id INTEGER PRIMARY KEY, words TEXT);" +
         create_sql<NumberedStackRow>() + create_sql<WindowRow>() + create_sql<HostWorkRow>() +
         create_sql<GpuErrorRow>();
}

constexpr const char* kProcessInsert =
    "INSERT INTO process (pid, ppid, role, started_ns, born_ns) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (pid, born_ns) DO UPDATE SET ppid = coalesce(?2, ppid), role = ?3, started_ns = "
    "?4";
constexpr const char* kProcessText =
    "INSERT INTO process (pid, text, born_ns) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (pid, born_ns) DO UPDATE SET text = ?2";
// A device may be described twice: by its ring, and by what watches it from outside.
constexpr const char* kDeviceMerge =
    " ON CONFLICT (idx) DO UPDATE SET name = ?2, "
    "emulated = max(emulated, ?3), total_memory_bytes = coalesce(?4, total_memory_bytes), "
    "text = CASE WHEN ?5 = '' THEN text ELSE ?5 END";

constexpr const char* kWindowMerge =
    " ON CONFLICT (pid, born_ns, number) DO UPDATE SET start_ns = ?4, end_ns = coalesce(?5, "
    "end_ns), clock_error_ns = ?6, "
    "records_lost = ?7";

}  // namespace

Result<std::set<std::string>> column_names(const Database& database, std::string_view table) {
  std::set<std::string> names;
  // The table-valued form is refused where a file is not trusted. Names of tables are this room's.
  const std::string sql = fmt::format("PRAGMA table_info({})", table);
  const Status read = for_each_row(database, sql, {},
                                   [&names](const Statement& row) { names.emplace(row.text(1)); });
  if (!read) return forward_error(read);
  return names;
}

Status create_run_schema(Database& database, std::int64_t pages_max) {
  // NORMAL: the disk is waited for only when the log is folded in, about every 4 MiB, never at a
  // commit. A killed process loses nothing by it; a power cut loses at most the last commits.
  // Where a log is impossible (some network file systems) SQLite answers with the mode that it
  // keeps instead, and all that is lost is reading while somebody writes.
  for (const char* pragma : {"PRAGMA page_size = 4096", "PRAGMA journal_mode = WAL",
                             "PRAGMA synchronous = NORMAL", "PRAGMA temp_store = MEMORY"}) {
    if (const Status set = database.execute(pragma); !set) return set;
  }
  if (pages_max > 0) {
    const std::string pragma = fmt::format("PRAGMA max_page_count = {}", pages_max);
    if (const Status set = database.execute(pragma.c_str()); !set) return set;
  }
  const std::string all =
      "BEGIN; CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;" + tables() +
      later_tables() + "COMMIT;";
  return database.execute(all.c_str());
}

Status add_later_tables(Database& database) { return database.execute(later_tables().c_str()); }

Result<RunStatements> RunStatements::prepare(const Database& database) {
  RunStatements out;
  const std::pair<Statement*, std::string> wanted[] = {
      {&out.put, "INSERT OR REPLACE INTO run VALUES (?, ?)"},
      {&out.process, kProcessInsert},
      {&out.process_end, "UPDATE process SET ended_ns = ?2 WHERE pid = ?1 AND born_ns = ?3"},
      {&out.process_text, kProcessText},
      {&out.step, insert_sql<StepRow>()},
      {&out.loader, insert_sql<LoaderRow>()},
      {&out.wait, insert_sql<WaitRow>()},
      {&out.fetch, insert_sql<FetchRow>()},
      {&out.stage, insert_sql<StageRow>()},
      {&out.sync, insert_sql<SyncRow>()},
      {&out.stack, "INSERT OR IGNORE INTO stack VALUES (?, ?)"},
      {&out.stack_sample, insert_sql<NumberedStackRow>()},
      {&out.host_work, insert_sql<HostWorkRow>()},
      {&out.device, insert_sql<DeviceRow>() + kDeviceMerge},
      {&out.gpu_error, insert_sql<GpuErrorRow>()},
      {&out.window, insert_sql<WindowRow>() + kWindowMerge},
      {&out.ring, insert_sql<RingMark>("INSERT OR REPLACE")},
      {&out.metric, insert_sql<MetricRow>()},
      {&out.sample, insert_sql<SampleRow>()},
      {&out.finding, insert_sql<FindingRow>()},
      {&out.prediction, insert_sql<PredictionRow>()},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> made = database.prepare(sql);
    if (!made) return forward_error(made);
    *statement = std::move(*made);
  }
  return out;
}

}  // namespace unstarve::trace
