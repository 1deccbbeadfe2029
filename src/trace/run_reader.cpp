#include "trace/run_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "trace/thinning/read_thinned.h"

namespace unstarve::trace {

namespace {

ProcessRole parse_role(std::string_view text) {
  if (text == "main") return ProcessRole::kMain;
  if (text == "loader_worker") return ProcessRole::kLoaderWorker;
  return ProcessRole::kOther;
}

Reading<double> real_reading(const Statement& row, int column) {
  if (row.is_null(column)) return WhyAbsent::kNotObserved;
  return row.real(column);
}

/// All rows of a query, each made by `make` from the statement.
template <class Row, class Make>
Result<std::vector<Row>> collect(const Database& database, std::string_view sql, Make make,
                                 std::initializer_list<SqlValue> values = {}) {
  std::vector<Row> rows;
  const Status read =
      for_each_row(database, sql, values, [&](const Statement& row) { rows.push_back(make(row)); });
  if (!read) return forward_error(read);
  return rows;
}

StepRow step_of(const Statement& row) {
  StepRow step;
  step.pid = row.integer(0);
  step.thread = row.integer(1);
  step.index = row.integer(2);
  step.when = {row.integer(3), row.integer(4)};
  step.samples = row.reading(5);
  step.source = row.integer(6);
  return step;
}

Status read_steps(const Database& database, RunSink& sink) {
  return for_each_row(
      database, "SELECT pid, tid, idx, start_ns, end_ns, samples, source FROM step ORDER BY rowid",
      {}, [&](const Statement& row) { sink.add(step_of(row)); });
}

Result<bool> is_there(const Database& database, const char* query, std::string_view name) {
  bool found = false;
  const Status looked =
      for_each_row(database, query, {name}, [&found](const Statement&) { found = true; });
  if (!looked) return forward_error(looked);
  return found;
}

/// Runs of earlier versions lack some.
Result<bool> has_table(const Database& database, std::string_view name) {
  return is_there(database, "SELECT 1 FROM sqlite_master WHERE name = ?", name);
}

/// Of a row whose columns are metric_id, t_ns, value, absent.
SeriesPoint point_of(const Statement& row) {
  SeriesPoint point{row.integer(1), WhyAbsent::kNotObserved};
  if (!row.is_null(2)) {
    point.value = row.real(2);
  } else if (const auto why = parse_why_absent(row.text(3))) {
    point.value = *why;
  }
  return point;
}

Result<SamplesByMetric> read_samples(const Database& database) {
  SamplesByMetric samples;
  const Status read = for_each_row(
      database, "SELECT metric_id, t_ns, value, absent FROM sample ORDER BY rowid", {},
      [&samples](const Statement& row) { samples[row.integer(0)].push_back(point_of(row)); });
  if (!read) return forward_error(read);
  return samples;
}

Status read_loaders(const Database& database, RunSink& sink) {
  const Result<bool> timed =
      is_there(database, "SELECT 1 FROM pragma_table_info('loader') WHERE name = ?", "ready_ns");
  if (!timed) return forward_error(timed);
  const std::string query = fmt::format(
      "SELECT pid, loader_id, num_workers, prefetch_factor, batch_size, flags, made_ns, "
      "{} FROM loader ORDER BY made_ns",
      *timed ? "ready_ns, tid" : "NULL, NULL");
  return for_each_row(database, query.c_str(), {}, [&](const Statement& row) {
    LoaderRow loader;
    loader.pid = row.integer(0);
    loader.loader_id = row.integer(1);
    loader.num_workers = row.integer(2);
    loader.prefetch_factor = row.reading(3);
    loader.batch_size = row.reading(4);
    loader.flags = row.reading(5);
    loader.made_ns = row.integer(6);
    loader.ready_ns = row.reading(7);
    loader.thread = row.reading(8);
    sink.add(loader);
  });
}

Status read_waits(const Database& database, RunSink& sink) {
  return for_each_row(database,
                      "SELECT pid, tid, loader_id, batch, start_ns, end_ns, ready_batches, "
                      "samples, ended FROM wait "
                      "ORDER BY rowid",
                      {}, [&](const Statement& row) {
                        WaitRow wait;
                        wait.pid = row.integer(0);
                        wait.thread = row.integer(1);
                        wait.loader_id = row.integer(2);
                        wait.batch = row.reading(3);
                        wait.when = {row.integer(4), row.integer(5)};
                        wait.ready_batches = row.reading(6);
                        wait.samples = row.reading(7);
                        wait.ended = row.integer(8) != 0;
                        sink.add(wait);
                      });
}

Status read_fetches(const Database& database, RunSink& sink) {
  return for_each_row(
      database,
      "SELECT pid, tid, loader_id, start_ns, end_ns, samples, cpu_ns, decode_ns, collate_ns "
      "FROM fetch ORDER BY rowid",
      {}, [&](const Statement& row) {
        FetchRow fetch;
        fetch.pid = row.integer(0);
        fetch.thread = row.integer(1);
        fetch.loader_id = row.reading(2);
        fetch.when = {row.integer(3), row.integer(4)};
        fetch.samples = row.reading(5);
        fetch.cpu_ns = row.reading(6);
        fetch.decode_ns = row.reading(7);
        fetch.collate_ns = row.reading(8);
        sink.add(fetch);
      });
}

Status read_stages(const Database& database, RunSink& sink) {
  const Result<bool> known = has_table(database, "stage");
  if (!known) return forward_error(known);
  if (!*known) return {};
  return for_each_row(
      database,
      "SELECT pid, loader_id, stage, start_ns, end_ns, spent_ns, amount, threads FROM stage "
      "WHERE stage BETWEEN 0 AND 6 ORDER BY rowid",
      {}, [&](const Statement& row) {
        StageRow stage;
        stage.pid = row.integer(0);
        stage.loader_id = row.integer(1);
        stage.stage = static_cast<LoaderStage>(row.integer(2));
        stage.when = {row.integer(3), row.integer(4)};
        stage.spent_ns = row.integer(5);
        stage.amount = row.reading(6);
        stage.threads = row.reading(7);
        sink.add(stage);
      });
}

Status read_stack_samples(const Database& database, RunSink& sink) {
  const Result<bool> known = has_table(database, "stack_sample");
  if (!known) return forward_error(known);
  if (!*known) return {};
  std::map<std::int64_t, std::string> words;
  const Status read = for_each_row(
      database, "SELECT id, words FROM stack", {},
      [&words](const Statement& row) { words[row.integer(0)] = std::string(row.text(1)); });
  if (!read) return read;
  return for_each_row(
      database, "SELECT pid, tid, t_ns, period_ns, late_ns, stack FROM stack_sample ORDER BY rowid",
      {}, [&words, &sink](const Statement& row) {
        const auto stack = words.find(row.integer(5));
        sink.add(StackRow{row.integer(0), row.integer(1), row.integer(2), row.integer(3),
                          row.integer(4)},
                 stack == words.end() ? std::string_view() : std::string_view(stack->second));
      });
}

Status read_windows(const Database& database, RunSink& sink) {
  const Result<bool> known = has_table(database, "device_window");
  if (!known) return forward_error(known);
  if (!*known) return {};
  return for_each_row(database,
                      "SELECT pid, born_ns, number, start_ns, end_ns, clock_error_ns, records_lost "
                      "FROM device_window ORDER BY rowid",
                      {}, [&](const Statement& row) {
                        WindowRow window;
                        window.process = {row.integer(0), row.integer(1)};
                        window.number = row.integer(2);
                        window.start_ns = row.integer(3);
                        window.end_ns = row.reading(4);
                        window.clock_error_ns = row.integer(5);
                        window.records_lost = row.integer(6);
                        sink.add(window);
                      });
}

Status read_syncs(const Database& database, RunSink& sink) {
  return for_each_row(
      database, "SELECT pid, tid, start_ns, end_ns FROM sync ORDER BY rowid", {},
      [&](const Statement& row) {
        sink.add(SyncRow{row.integer(0), row.integer(1), {row.integer(2), row.integer(3)}});
      });
}

Status read_host_work(const Database& database, RunSink& sink) {
  const Result<bool> known = has_table(database, "host_work");
  if (!known) return forward_error(known);
  if (!*known) return {};
  return for_each_row(database,
                      "SELECT pid, tid, kind, start_ns, end_ns FROM host_work "
                      "WHERE kind BETWEEN 0 AND 6 ORDER BY rowid",
                      {}, [&](const Statement& row) {
                        sink.add(HostWorkRow{row.integer(0),
                                             row.integer(1),
                                             static_cast<HostWorkKind>(row.integer(2)),
                                             {row.integer(3), row.integer(4)}});
                      });
}

}  // namespace

Result<RunReader> RunReader::open(const std::string& path) {
  const bool is_store = std::filesystem::path(path).extension() == ".sqlite";
  RunReader reader;
  reader.dir_ = is_store ? std::filesystem::path(path).parent_path().string() : path;
  if (reader.dir_.empty()) reader.dir_ = std::string(1, '.');
  const std::string store = reader.dir_ + "/run.sqlite";
  Result<Database> database = Database::open_read_only(is_store ? path : store);
  if (!database) return forward_error(database);
  reader.database_ = std::move(*database);
  const Status read = for_each_row(
      reader.database_, "SELECT key, value FROM run", {}, [&reader](const Statement& row) {
        reader.info_.insert_or_assign(std::string(row.text(0)), std::string(row.text(1)));
      });
  if (!read) return forward_error(read);
  const std::string schema = reader.info("schema");
  if (schema != "unstarve.run/1") {
    return fail(ErrorCode::kNotSupported,
                "{} has the schema '{}'; this unstarve reads 'unstarve.run/1'", path, schema);
  }
  reader.thinning_ = parse_plan(reader.info("thinning"));
  // Rows and the totals of rows that went are to be of one moment, also while the run goes on.
  if (reader.thinning_.level > 0) {
    if (const Status begun = reader.database_.execute("BEGIN"); !begun) return forward_error(begun);
  }
  return reader;
}

std::string RunReader::info(std::string_view key) const {
  const auto entry = info_.find(key);
  return entry == info_.end() ? std::string() : entry->second;
}

std::int64_t RunReader::number(std::string_view key) const {
  const std::string text = info(key);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Result<std::vector<MetricRow>> RunReader::metrics() const {
  return collect<MetricRow>(
      database_, "SELECT id, name, unit, source, subject, description FROM metric ORDER BY id",
      [](const Statement& row) {
        return MetricRow{row.integer(0),           std::string(row.text(1)),
                         std::string(row.text(2)), std::string(row.text(3)),
                         std::string(row.text(4)), std::string(row.text(5))};
      });
}

Result<std::vector<SeriesPoint>> RunReader::series(std::string_view metric,
                                                   std::string_view subject) const {
  // Metrics that appear twice (a device that was lost and found) are one series.
  std::vector<std::int64_t> ids;
  const Status found = for_each_row(
      database_, "SELECT id FROM metric WHERE name = ? AND subject = ?", {metric, subject},
      [&ids](const Statement& row) { ids.push_back(row.integer(0)); });
  if (!found) return forward_error(found);
  if (ids.empty()) {
    return fail(ErrorCode::kNotFound, "{} has no metric '{}' of '{}'", dir_, metric, subject);
  }
  if (!samples_) {
    Result<SamplesByMetric> read = read_samples(database_);
    if (!read) return forward_error(read);
    samples_ = *std::move(read);
  }
  std::vector<SeriesPoint> points;
  for (const std::int64_t id : ids) {
    const auto known = samples_->find(id);
    if (known == samples_->end()) continue;
    points.insert(points.end(), known->second.begin(), known->second.end());
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const SeriesPoint& a, const SeriesPoint& b) { return a.t_ns < b.t_ns; });
  return points;
}

Result<std::vector<StoredSample>> RunReader::samples_after(std::int64_t row,
                                                           std::size_t most) const {
  return collect<StoredSample>(
      database_,
      "SELECT metric_id, t_ns, value, absent, rowid FROM sample WHERE rowid > ? ORDER BY rowid "
      "LIMIT ?",
      [](const Statement& stored) {
        return StoredSample{stored.integer(4), stored.integer(0), point_of(stored)};
      },
      {row, static_cast<std::int64_t>(most)});
}

Result<std::vector<StoredStep>> RunReader::steps_after(std::int64_t row, std::size_t most) const {
  return collect<StoredStep>(
      database_,
      "SELECT pid, tid, idx, start_ns, end_ns, samples, source, rowid FROM step WHERE rowid > ? "
      "ORDER BY rowid LIMIT ?",
      [](const Statement& stored) {
        return StoredStep{stored.integer(7), step_of(stored)};
      },
      {row, static_cast<std::int64_t>(most)});
}

Result<std::vector<ProcessRecord>> RunReader::processes() const {
  return collect<ProcessRecord>(
      database_,
      "SELECT pid, ppid, role, started_ns, ended_ns, text FROM process ORDER BY pid, started_ns",
      [](const Statement& row) {
        ProcessRecord process;
        process.row.id.pid = row.integer(0);
        process.row.ppid = row.reading(1);
        process.row.role = parse_role(row.text(2));
        process.row.started_ns = row.integer(3);
        process.ended_ns = row.reading(4);
        process.text = std::string(row.text(5));
        return process;
      });
}

Result<std::vector<DeviceRow>> RunReader::devices() const {
  return collect<DeviceRow>(
      database_, "SELECT idx, name, emulated, total_memory_bytes, text FROM device ORDER BY idx",
      [](const Statement& row) {
        DeviceRow device;
        device.index = row.integer(0);
        device.name = std::string(row.text(1));
        device.emulated = row.integer(2) != 0;
        device.total_memory_bytes = row.reading(3);
        device.text = std::string(row.text(4));
        return device;
      });
}

Result<std::vector<GpuErrorRow>> RunReader::gpu_errors() const {
  const Result<bool> known = has_table(database_, "gpu_error");
  if (!known) return forward_error(known);
  if (!*known) return std::vector<GpuErrorRow>();
  return collect<GpuErrorRow>(
      database_,
      "SELECT t_ns, idx, xid, gpu_instance, compute_instance FROM gpu_error ORDER BY t_ns, rowid",
      [](const Statement& row) {
        return GpuErrorRow{row.integer(0), row.integer(1), row.integer(2), row.reading(3),
                           row.reading(4)};
      });
}

Result<std::vector<RingMark>> RunReader::ring_marks() const {
  return collect<RingMark>(database_, "SELECT file, position, lost, damaged FROM ring",
                           [](const Statement& row) {
                             RingMark mark;
                             mark.file = std::string(row.text(0));
                             mark.position = static_cast<std::uint64_t>(row.integer(1));
                             mark.lost = static_cast<std::uint64_t>(row.integer(2));
                             mark.damaged = static_cast<std::uint64_t>(row.integer(3));
                             return mark;
                           });
}

Result<std::vector<FindingRow>> RunReader::findings() const {
  return collect<FindingRow>(
      database_,
      "SELECT idx, cause, detail, share, confidence, evidence, remedies FROM finding ORDER BY idx",
      [](const Statement& row) {
        return FindingRow{row.integer(0),           std::string(row.text(1)),
                          std::string(row.text(2)), row.real(3),
                          std::string(row.text(4)), std::string(row.text(5)),
                          std::string(row.text(6))};
      });
}

Result<std::vector<PredictionRow>> RunReader::predictions() const {
  return collect<PredictionRow>(
      database_,
      "SELECT remedy, predicted_speedup, low, high, measured_speedup, measured_low, measured_high, "
      "held FROM prediction ORDER BY rowid",
      [](const Statement& row) {
        PredictionRow prediction;
        prediction.remedy = std::string(row.text(0));
        prediction.predicted_speedup = row.real(1);
        prediction.low = row.real(2);
        prediction.high = row.real(3);
        prediction.measured_speedup = real_reading(row, 4);
        prediction.measured_low = real_reading(row, 5);
        prediction.measured_high = real_reading(row, 6);
        prediction.held = row.reading(7);
        return prediction;
      });
}

Status RunReader::read_rows(RunSink& sink) const {
  const Result<std::vector<ProcessRecord>> known = processes();
  if (!known) return forward_error(known);
  for (const ProcessRecord& process : *known) {
    sink.add(process.row);
    if (process.ended_ns) sink.add(ProcessEnd{process.row.id, *process.ended_ns});
    if (!process.text.empty()) sink.set_process_text(process.row.id, process.text);
  }
  const Result<std::vector<DeviceRow>> devices_known = devices();
  if (!devices_known) return forward_error(devices_known);
  for (const DeviceRow& device : *devices_known) sink.add(device);
  for (const auto read : {read_steps, read_loaders, read_waits, read_fetches, read_stages,
                          read_syncs, read_stack_samples, read_host_work, read_windows}) {
    if (const Status done = read(database_, sink); !done) return done;
  }
  return thinning_.level == 0 ? Status{} : read_thinned_stages(database_, sink);
}

Result<TotalsBy> RunReader::thinned() const {
  if (thinning_.level == 0) return TotalsBy();
  return read_thinned(database_);
}

Result<RowTotals> RunReader::thinned(std::string_view metric, std::string_view subject,
                                     const Interval& when) const {
  if (thinning_.level == 0) return RowTotals();
  return read_thinned_samples(database_, {metric, subject}, when);
}

}  // namespace unstarve::trace
