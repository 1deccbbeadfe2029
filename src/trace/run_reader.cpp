#include "trace/run_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "trace/store/tables.h"
#include "trace/thinning/read_thinned.h"

namespace unstarve::trace {

namespace {

// A later version may write other stages and other work.
constexpr const char* kKnownStages = "WHERE stage BETWEEN 0 AND 6 ORDER BY rowid";
constexpr const char* kKnownWork = "WHERE kind BETWEEN 0 AND 6 ORDER BY rowid";

/// All rows of a table, as they are.
template <class Row>
Result<std::vector<Row>> all_rows(const Database& database, std::string_view behind) {
  std::vector<Row> rows;
  const Status read = for_each_row_of<Row>(
      database, behind, {}, [&rows](Row row, std::int64_t) { rows.push_back(std::move(row)); });
  if (!read) return forward_error(read);
  return rows;
}

std::int64_t time_of(const SampleRow& row) { return row.t_ns; }
template <class Row>
std::int64_t time_of(const Row& row) {
  return row.when.end_ns;
}

template <class Row>
Status hand_rows(const Database& database, std::string_view behind, RunSink& sink) {
  return for_each_row_of<Row>(database, behind, {},
                              [&sink](const Row& row, std::int64_t) { sink.add(row); });
}

Status hand_stack_samples(const Database& database, RunSink& sink) {
  const auto known = column_names(database, "stack");
  if (!known) return forward_error(known);
  if (known->empty()) return {};
  std::map<std::int64_t, std::string> words;
  const Status read = for_each_row(
      database, "SELECT id, words FROM stack", {},
      [&words](const Statement& row) { words[row.integer(0)] = std::string(row.text(1)); });
  if (!read) return read;
  return for_each_row_of<NumberedStackRow>(
      database, "ORDER BY rowid", {},
      [&words, &sink](const NumberedStackRow& sample, std::int64_t) {
        const auto stack = words.find(sample.stack);
        sink.add(sample.row,
                 stack == words.end() ? std::string_view() : std::string_view(stack->second));
      });
}

Result<SamplesByMetric> read_samples(const Database& database) {
  SamplesByMetric samples;
  const Status read = for_each_row_of<SampleRow>(
      database, "ORDER BY rowid", {}, [&samples](const SampleRow& row, std::int64_t) {
        samples[row.metric_id].push_back({row.t_ns, row.value});
      });
  if (!read) return forward_error(read);
  return samples;
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
  return all_rows<MetricRow>(database_, "ORDER BY id");
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
  const auto earlier = [](const SeriesPoint& a, const SeriesPoint& b) { return a.t_ns < b.t_ns; };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) {
    std::stable_sort(points.begin(), points.end(), earlier);
  }
  return points;
}

Result<std::vector<StoredSample>> RunReader::samples_after(std::int64_t row,
                                                           std::size_t most) const {
  const auto rows = rows_after<SampleRow>(row, most);
  if (!rows) return forward_error(rows);
  std::vector<StoredSample> samples;
  for (const auto& [number, sample] : *rows) {
    samples.push_back({number, sample.metric_id, {sample.t_ns, sample.value}});
  }
  return samples;
}

template <class Row>
Result<std::vector<Stored<Row>>> RunReader::rows_after(std::int64_t row, std::size_t most) const {
  constexpr const char* kBehind = "WHERE rowid > ? ORDER BY rowid LIMIT ?";
  std::vector<Stored<Row>> rows;
  const Status read =
      for_each_row_of<Row>(database_, kBehind, {row, static_cast<std::int64_t>(most)},
                           [&rows](const Row& one, std::int64_t number) {
                             rows.push_back({number, one});
                           });
  if (!read) return forward_error(read);
  return rows;
}
template Result<std::vector<Stored<StepRow>>> RunReader::rows_after(std::int64_t,
                                                                    std::size_t) const;
template Result<std::vector<Stored<WaitRow>>> RunReader::rows_after(std::int64_t,
                                                                    std::size_t) const;
template Result<std::vector<Stored<SyncRow>>> RunReader::rows_after(std::int64_t,
                                                                    std::size_t) const;
template Result<std::vector<Stored<HostWorkRow>>> RunReader::rows_after(std::int64_t,
                                                                        std::size_t) const;

template <class Row>
Result<std::int64_t> RunReader::row_before(std::int64_t t_ns) const {
  const auto after = [this](std::int64_t row) { return rows_after<Row>(row, 1); };
  std::int64_t low = 0;  // stored before t_ns
  std::int64_t high = 0;
  const Status read =
      for_each_row(database_, std::string("SELECT max(rowid) FROM ") + Table<Row>::kName, {},
                   [&high](const Statement& row) { high = row.integer(0); });
  if (!read) return forward_error(read);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto next = after(middle);
    if (!next) return forward_error(next);
    if (next->empty() || time_of(next->front().value) >= t_ns) {
      high = middle;
    } else {
      low = next->front().row;
    }
  }
  return low;
}
template Result<std::int64_t> RunReader::row_before<SampleRow>(std::int64_t) const;
template Result<std::int64_t> RunReader::row_before<StepRow>(std::int64_t) const;
template Result<std::int64_t> RunReader::row_before<WaitRow>(std::int64_t) const;
template Result<std::int64_t> RunReader::row_before<SyncRow>(std::int64_t) const;
template Result<std::int64_t> RunReader::row_before<HostWorkRow>(std::int64_t) const;

Result<std::int64_t> RunReader::step_count() const {
  std::int64_t steps = 0;
  const auto add = [&steps](const Statement& row) { steps += row.integer(0); };
  Status read = for_each_row(database_, "SELECT count(*) FROM step", {}, add);
  if (read && thinning_.level > 0) {
    read = for_each_row(
        database_, "SELECT coalesce(sum(rows), 0) FROM thinned WHERE what IN ('step', 'batch')", {},
        add);
  }
  if (!read) return forward_error(read);
  return steps;
}

Result<std::vector<ProcessRecord>> RunReader::processes() const {
  return all_rows<ProcessRecord>(database_, "ORDER BY pid, started_ns");
}

Result<std::vector<DeviceRow>> RunReader::devices() const {
  return all_rows<DeviceRow>(database_, "ORDER BY idx");
}

Result<std::vector<GpuErrorRow>> RunReader::gpu_errors() const {
  return all_rows<GpuErrorRow>(database_, "ORDER BY t_ns, rowid");
}

Result<std::vector<RingMark>> RunReader::ring_marks() const {
  return all_rows<RingMark>(database_, "");
}

Result<std::vector<FindingRow>> RunReader::findings() const {
  return all_rows<FindingRow>(database_, "ORDER BY idx");
}

Result<std::vector<PredictionRow>> RunReader::predictions() const {
  return all_rows<PredictionRow>(database_, "ORDER BY rowid");
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
  Status done = hand_rows<StepRow>(database_, "ORDER BY rowid", sink);
  if (done) done = hand_rows<LoaderRow>(database_, "ORDER BY made_ns", sink);
  if (done) done = hand_rows<WaitRow>(database_, "ORDER BY rowid", sink);
  if (done) done = hand_rows<FetchRow>(database_, "ORDER BY rowid", sink);
  if (done) done = hand_rows<StageRow>(database_, kKnownStages, sink);
  if (done) done = hand_rows<SyncRow>(database_, "ORDER BY rowid", sink);
  if (done) done = hand_stack_samples(database_, sink);
  if (done) done = hand_rows<HostWorkRow>(database_, kKnownWork, sink);
  if (done) done = hand_rows<WindowRow>(database_, "ORDER BY rowid", sink);
  if (!done) return done;
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
