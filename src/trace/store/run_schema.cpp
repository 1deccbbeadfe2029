#include "trace/store/run_schema.h"

#include <fmt/format.h>

#include <utility>

namespace unstarve::trace {

namespace {

constexpr const char* kTables = R"sql(
BEGIN;
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE process (pid INTEGER, ppid INTEGER, role TEXT, started_ns INTEGER,
                      ended_ns INTEGER, text TEXT, born_ns INTEGER, PRIMARY KEY (pid, born_ns));
CREATE TABLE step (pid INTEGER, tid INTEGER, idx INTEGER, start_ns INTEGER, end_ns INTEGER,
                   samples INTEGER, source INTEGER);
CREATE TABLE loader (pid INTEGER, loader_id INTEGER, num_workers INTEGER, prefetch_factor INTEGER,
                     batch_size INTEGER, flags INTEGER, made_ns INTEGER,
                     ready_ns INTEGER, tid INTEGER);
CREATE TABLE wait (pid INTEGER, tid INTEGER, loader_id INTEGER, batch INTEGER, start_ns INTEGER,
                   end_ns INTEGER, ready_batches INTEGER, samples INTEGER, ended INTEGER);
CREATE TABLE fetch (pid INTEGER, tid INTEGER, loader_id INTEGER, start_ns INTEGER, end_ns INTEGER,
                    samples INTEGER, cpu_ns INTEGER, decode_ns INTEGER, collate_ns INTEGER);
CREATE TABLE sync (pid INTEGER, tid INTEGER, start_ns INTEGER, end_ns INTEGER);
CREATE TABLE device (idx INTEGER PRIMARY KEY, name TEXT, emulated INTEGER,
                     total_memory_bytes INTEGER, text TEXT);
CREATE TABLE ring (file TEXT PRIMARY KEY, position INTEGER, lost INTEGER, damaged INTEGER);
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, source TEXT, subject TEXT,
                     description TEXT);
CREATE TABLE sample (t_ns INTEGER, metric_id INTEGER, value REAL, absent TEXT);
CREATE TABLE finding (idx INTEGER, cause TEXT, detail TEXT, share REAL, confidence TEXT,
                      evidence TEXT, remedies TEXT);
CREATE TABLE prediction (remedy TEXT, predicted_speedup REAL, low REAL, high REAL,
                         measured_speedup REAL, measured_low REAL, measured_high REAL,
                         held INTEGER);
COMMIT;
)sql";

constexpr const char* kLaterTables =
    "CREATE TABLE IF NOT EXISTS stage (pid INTEGER, loader_id INTEGER, stage INTEGER, "
    "start_ns INTEGER, end_ns INTEGER, spent_ns INTEGER, amount INTEGER, threads INTEGER);"
    "CREATE TABLE IF NOT EXISTS stack (id INTEGER PRIMARY KEY, words TEXT);"
    "CREATE TABLE IF NOT EXISTS stack_sample (pid INTEGER, tid INTEGER, t_ns INTEGER, "
    "period_ns INTEGER, late_ns INTEGER, stack INTEGER);"
    "CREATE TABLE IF NOT EXISTS device_window (pid INTEGER, born_ns INTEGER, number INTEGER, "
    "start_ns INTEGER, end_ns INTEGER, clock_error_ns INTEGER, records_lost INTEGER, "
    "PRIMARY KEY (pid, born_ns, number));"
    "CREATE TABLE IF NOT EXISTS host_work (pid INTEGER, tid INTEGER, kind INTEGER, "
    "start_ns INTEGER, end_ns INTEGER);"
    "CREATE TABLE IF NOT EXISTS gpu_error (t_ns INTEGER, idx INTEGER, xid INTEGER, "
    "gpu_instance INTEGER, compute_instance INTEGER)";

constexpr const char* kProcessInsert =
    "INSERT INTO process (pid, ppid, role, started_ns, born_ns) VALUES (?1, ?2, ?3, ?4, ?5) "
    "ON CONFLICT (pid, born_ns) DO UPDATE SET ppid = coalesce(?2, ppid), role = ?3, started_ns = "
    "?4";
constexpr const char* kProcessText =
    "INSERT INTO process (pid, text, born_ns) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (pid, born_ns) DO UPDATE SET text = ?2";
// A device may be described twice: by its ring, and by what watches it from outside.
constexpr const char* kDeviceInsert =
    "INSERT INTO device VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (idx) DO UPDATE SET name = ?2, "
    "emulated = max(emulated, ?3), total_memory_bytes = coalesce(?4, total_memory_bytes), "
    "text = CASE WHEN ?5 = '' THEN text ELSE ?5 END";

constexpr const char* kWindowInsert =
    "INSERT INTO device_window VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (pid, born_ns, "
    "number) DO UPDATE SET start_ns = ?4, end_ns = coalesce(?5, end_ns), clock_error_ns = ?6, "
    "records_lost = ?7";

}  // namespace

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
  if (const Status made = database.execute(kTables); !made) return made;
  return add_later_tables(database);
}

Status add_later_tables(Database& database) { return database.execute(kLaterTables); }

Status close_run_schema(Database& database) {
  if (const Status folded = database.execute("PRAGMA wal_checkpoint(TRUNCATE)"); !folded) {
    return folded;
  }
  return database.execute("PRAGMA journal_mode = DELETE");
}

Result<RunStatements> RunStatements::prepare(const Database& database) {
  RunStatements out;
  const std::pair<Statement*, const char*> wanted[] = {
      {&out.put, "INSERT OR REPLACE INTO run VALUES (?, ?)"},
      {&out.process, kProcessInsert},
      {&out.process_end, "UPDATE process SET ended_ns = ?2 WHERE pid = ?1 AND born_ns = ?3"},
      {&out.process_text, kProcessText},
      {&out.step, "INSERT INTO step VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&out.loader, "INSERT INTO loader VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&out.wait, "INSERT INTO wait VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&out.fetch, "INSERT INTO fetch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&out.stage, "INSERT INTO stage VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
      {&out.sync, "INSERT INTO sync VALUES (?, ?, ?, ?)"},
      {&out.stack, "INSERT OR IGNORE INTO stack VALUES (?, ?)"},
      {&out.stack_sample, "INSERT INTO stack_sample VALUES (?, ?, ?, ?, ?, ?)"},
      {&out.host_work, "INSERT INTO host_work VALUES (?, ?, ?, ?, ?)"},
      {&out.device, kDeviceInsert},
      {&out.gpu_error, "INSERT INTO gpu_error VALUES (?, ?, ?, ?, ?)"},
      {&out.window, kWindowInsert},
      {&out.ring, "INSERT OR REPLACE INTO ring VALUES (?, ?, ?, ?)"},
      {&out.metric, "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)"},
      {&out.sample, "INSERT INTO sample VALUES (?, ?, ?, ?)"},
      {&out.finding, "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&out.prediction, "INSERT INTO prediction VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> made = database.prepare(sql);
    if (!made) return forward_error(made);
    *statement = std::move(*made);
  }
  return out;
}

}  // namespace unstarve::trace
