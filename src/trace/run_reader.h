#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "trace/store/gpu_error.h"
#include "trace/store/process_record.h"
#include "trace/store/run_sink.h"
#include "trace/store/sqlite.h"
#include "trace/timeline/row_totals.h"
#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// One sample of a metric.
struct SeriesPoint {
  std::int64_t t_ns = 0;
  Reading<double> value;
};

/// A sample with its row in the store; rows that were stored later have higher numbers.
struct StoredSample {
  std::int64_t row = 0;
  std::int64_t metric_id = 0;
  SeriesPoint point;
};

/// A row of a table with its number there.
template <class Row>
struct Stored {
  std::int64_t row = 0;
  Row value;
};

/// By the number of the metric, each in the order of the store.
using SamplesByMetric = std::map<std::int64_t, std::vector<SeriesPoint>>;

/// Reads run.sqlite, of a run that ended, that goes on, or whose writer was killed.
///
///   Result<RunReader> run = RunReader::open("runs/2026-05-01");
///   auto busy = run->series("gpu.utilization_ratio", "gpu0");
///
/// Thread rule: one thread at a time.
class RunReader {
 public:
  /// `path` is a run directory or a run.sqlite.
  static Result<RunReader> open(const std::string& path);

  /// The run directory.
  const std::string& dir() const { return dir_; }
  /// The table `run`; an empty text for a key that it lacks.
  std::string info(std::string_view key) const;
  /// The same as a whole number; 0 for a key that it lacks.
  std::int64_t number(std::string_view key) const;
  /// False: it goes on, or whatever watched it was killed.
  bool has_ended() const { return info("state") == "ended"; }

  Result<std::vector<MetricRow>> metrics() const;
  /// All samples of a metric, by time. A metric that the run does not have is kNotFound. The first
  /// call reads those of all metrics, in one pass: every series is of that moment.
  Result<std::vector<SeriesPoint>> series(std::string_view metric, std::string_view subject) const;
  /// What was stored after the row `row` (0: from the first on), at most `most` of it, for whoever
  /// follows a run that goes on. What a long run drops meanwhile is not among it.
  Result<std::vector<StoredSample>> samples_after(std::int64_t row, std::size_t most) const;
  /// Row: StepRow, WaitRow, SyncRow, HostWorkRow.
  template <class Row>
  Result<std::vector<Stored<Row>>> rows_after(std::int64_t row, std::size_t most) const;
  /// The last row that was stored before those of `t_ns`; 0: none. Rows are in the order of time
  /// but for a second or so. Row: as above, and SampleRow.
  template <class Row>
  Result<std::int64_t> row_before(std::int64_t t_ns) const;
  /// How many steps were recorded, those that a long run no longer holds among them.
  Result<std::int64_t> step_count() const;
  Result<std::vector<ProcessRecord>> processes() const;
  Result<std::vector<DeviceRow>> devices() const;
  /// By time; none in a run of an earlier version.
  Result<std::vector<GpuErrorRow>> gpu_errors() const;
  Result<std::vector<RingMark>> ring_marks() const;
  Result<std::vector<FindingRow>> findings() const;
  Result<std::vector<PredictionRow>> predictions() const;

  /// How the run was thinned out; level 0: it was not.
  const SlotPlan& thinning() const { return thinning_; }
  /// Of the rows that were left out then, but for samples of metrics.
  Result<TotalsBy> thinned() const;
  /// Of the samples of a metric within `when` that were left out: `samples` have a value, `value`
  /// is their sum.
  Result<RowTotals> thinned(std::string_view metric, std::string_view subject,
                            const Interval& when) const;

  /// Hands steps, loaders, waits, fetches, syncs, windows, processes and devices to `sink`.
  Status read_rows(RunSink& sink) const;

 private:
  Database database_;
  std::string dir_;
  std::map<std::string, std::string, std::less<>> info_;
  SlotPlan thinning_;
  mutable std::optional<SamplesByMetric> samples_;  // none: not read by now
};

}  // namespace unstarve::trace
