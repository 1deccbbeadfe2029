#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "trace/store/gpu_error.h"
#include "trace/store/run_sink.h"
#include "trace/thinning/options.h"

namespace unstarve::trace {

/// What is known of a run before its first sample.
struct RunInfo {
  std::string run_id;
  std::vector<std::string> command;
  std::int64_t started_wall_ns = 0;
  std::int64_t started_ns = 0;
  std::string host;
  std::string device_kind;  // cuda, emulated, absent
  std::string device_name;
  std::string unstarve_version;
  std::string watcher = {};  // the process that writes the run (host/process_identity.h)
};

struct RunWriterOptions {
  /// Bytes of events-0.uev at which device events are no longer recorded, only counted.
  std::uint64_t events_bytes_max = 512ULL << 20;
  /// Pages of 4 KiB that run.sqlite may grow to; 0 is SQLite's own bound. 4 GiB by default.
  std::int64_t store_pages_max = 1LL << 20;
  /// When run.sqlite is thinned out.
  ThinningOptions thinning = {};
};

/// Rows and events that could not be kept, with the first reason.
struct WriteLosses {
  std::uint64_t rows = 0;
  std::uint64_t events = 0;
  std::optional<Error> first_error;
};

/// Writes a run directory: run.sqlite and, once there is device activity, events-0.uev.
///
///   auto writer = RunWriter::create(dir, info, {});
///   (*writer)->add(step);            // buffered in one transaction
///   (*writer)->commit();             // about every second: what a kill -9 cannot take back
///   (*writer)->finish(ended_ns, exit_code);
///
/// A full disk never ends the run: rows that cannot be written are dropped and counted, and the
/// next commit tries again. Thread rule: one thread at a time. Lifetime: without finish() the run
/// stays in state `running`, which readers take for one whose supervisor died.
class RunWriter final : public RunSink {
 public:
  /// Makes `dir`, `dir`/rings and the store. Refuses a folder that already holds a run.
  static Result<std::unique_ptr<RunWriter>> create(const std::string& dir, const RunInfo& info,
                                                   const RunWriterOptions& options);
  /// Opens a finished run to add findings and predictions.
  static Result<std::unique_ptr<RunWriter>> reopen(const std::string& dir);
  ~RunWriter() override;

  const std::string& dir() const;
  /// Sets a key of the table `run`.
  void put(std::string_view key, std::string_view value);

  void add(const ProcessRow& row) override;
  void add(const ProcessEnd& row) override;
  void add(const StepRow& row) override;
  void add(const LoaderRow& row) override;
  void add(const WaitRow& row) override;
  void add(const FetchRow& row) override;
  void add(const StageRow& row) override;
  void add(const SyncRow& row) override;
  void add(const StackRow& row, std::string_view stack) override;
  void add(const HostWorkRow& row) override;
  void add(const DeviceRow& row) override;
  void add(const WindowRow& row) override;
  void add(const DeviceOp& operation, std::string_view name) override;
  void add(const HostCall& call, std::string_view name) override;
  void set_process_text(const ProcessId& id, std::string_view text) override;
  void set_mark(const RingMark& mark, bool device_ring) override;

  /// The id that samples of the metric carry; its `id` is ignored.
  std::int64_t add_metric(const MetricRow& row);
  void add(const SampleRow& row);
  void add(const GpuErrorRow& row);
  void add(const FindingRow& row);
  void add(const PredictionRow& row);

  /// Makes everything added so far survive us. An error means that those rows are gone (and
  /// counted in losses()); the writer goes on.
  Status commit();
  /// Writes ended_ns, exit_code and state `ended`, and leaves one file without a log beside it.
  Status finish(std::int64_t ended_ns, int exit_code);

  WriteLosses losses() const;

 private:
  struct Impl;
  explicit RunWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::trace
