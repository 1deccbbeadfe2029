#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

// The rows of a run, one struct per table of run.sqlite (docs/formats/run.md). Times are
// CLOCK_MONOTONIC in ns.

enum class ProcessRole : std::uint8_t { kMain = 0, kLoaderWorker = 1, kOther = 2 };
std::string_view to_string(ProcessRole role);

/// One process of the job. Process ids are used again, and `exec` keeps them: what tells two of the
/// same number apart is when each made its ring.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t born_ns = 0;
};

struct ProcessRow {
  ProcessId id;
  Reading<std::int64_t> ppid;
  ProcessRole role = ProcessRole::kOther;
  std::int64_t started_ns = 0;
};

struct ProcessEnd {
  ProcessId id;
  std::int64_t ended_ns = 0;
};

struct StepRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;  // kernel tid
  std::int64_t index = 0;
  Interval when;
  Reading<std::int64_t> samples;
  static constexpr std::int64_t kLoaderBatch = 2;
  static constexpr std::int64_t kBackward = 3;
  static constexpr std::int64_t kModelCall = 4;
  std::int64_t source = 0;  // 0 optimizer.step; 1 was the step of a former model of a GPU
};

struct LoaderRow {
  std::int64_t pid = 0;
  std::int64_t loader_id = 0;
  std::int64_t num_workers = 0;
  Reading<std::int64_t> prefetch_factor;
  Reading<std::int64_t> batch_size;
  Reading<std::int64_t> flags;  // 1 pin_memory, 2 persistent_workers, 4 native
  std::int64_t made_ns = 0;
  Reading<std::int64_t> ready_ns;  // absent in runs of earlier versions, as is the thread
  Reading<std::int64_t> thread;
};

struct WaitRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  std::int64_t loader_id = 0;
  Reading<std::int64_t> batch;
  Interval when;
  Reading<std::int64_t> ready_batches;
  Reading<std::int64_t> samples;
  bool ended = false;  // the iterator had no more batches
};

struct FetchRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  Reading<std::int64_t> loader_id;
  Interval when;
  Reading<std::int64_t> samples;
  Reading<std::int64_t> cpu_ns;
  Reading<std::int64_t> decode_ns;
  Reading<std::int64_t> collate_ns;
};

/// What one stage of unstarve's own loader took in one stretch of time; see StageTime.
struct StageRow {
  std::int64_t pid = 0;
  std::int64_t loader_id = 0;
  LoaderStage stage = LoaderStage::kRead;
  Interval when;
  std::int64_t spent_ns = 0;
  Reading<std::int64_t> amount;
  Reading<std::int64_t> threads;
};

/// A host call that blocks on the device, seen from Python.
struct SyncRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  Interval when;
};

/// What a thread did that the hook knows by name; see HostWork.
struct HostWorkRow {
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  HostWorkKind kind = HostWorkKind::kCollection;
  Interval when;
};

/// A device that wrote or could write activity; `text` is its JSON about itself.
struct DeviceRow {
  std::int64_t index = 0;
  std::string name;
  bool emulated = false;
  Reading<std::int64_t> total_memory_bytes;
  std::string text;
};

/// A stretch of time in which one process's device activity was recorded; see RecordedWindow. The
/// same one comes twice: when it opens, and when it has closed.
struct WindowRow {
  ProcessId process;  // born_ns: of its ring
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  Reading<std::int64_t> end_ns;  // absent: it has only opened
  std::int64_t clock_error_ns = 0;
  std::int64_t records_lost = 0;
};

/// How far a ring had been read when the rows of the same commit were written, so that whoever
/// reads the run after a kill goes on exactly there.
struct RingMark {
  std::string file;  // name inside RUN/rings
  std::uint64_t position = 0;
  std::uint64_t lost = 0;
  std::uint64_t damaged = 0;
};

struct MetricRow {
  std::int64_t id = 0;
  std::string name;
  std::string unit;
  std::string source;
  std::string subject;
  std::string description;
};

struct SampleRow {
  std::int64_t t_ns = 0;
  std::int64_t metric_id = 0;
  Reading<double> value;
};

struct FindingRow {
  std::int64_t index = 0;
  std::string cause;
  std::string detail;
  double share = 0.0;
  std::string confidence;
  std::string evidence_json;
  std::string remedies_json;
};

struct PredictionRow {
  std::string remedy;
  double predicted_speedup = 0.0;
  double low = 0.0;
  double high = 0.0;
  Reading<double> measured_speedup;
  Reading<double> measured_low;
  Reading<double> measured_high;
  Reading<std::int64_t> held;  // 1 or 0
};

/// Takes what a ring's records say, in the order of the ring.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void add(const ProcessRow& row) = 0;
  virtual void add(const ProcessEnd& row) = 0;
  virtual void add(const StepRow& row) = 0;
  virtual void add(const LoaderRow& row) = 0;
  virtual void add(const WaitRow& row) = 0;
  virtual void add(const FetchRow& row) = 0;
  virtual void add(const StageRow& row) = 0;
  virtual void add(const SyncRow& row) = 0;
  /// `stack` is the hook's words, see parse_stack().
  virtual void add(const StackRow& row, std::string_view stack) = 0;
  virtual void add(const HostWorkRow& row) = 0;
  virtual void add(const DeviceRow& row) = 0;
  virtual void add(const WindowRow& row) = 0;
  /// `operation.name` is not used; `name` is.
  virtual void add(const DeviceOp& operation, std::string_view name) = 0;
  virtual void add(const HostCall& call, std::string_view name) = 0;
  /// The JSON text of a process's ring, again whenever it changed.
  virtual void set_process_text(const ProcessId& id, std::string_view text) = 0;
  virtual void set_mark(const RingMark& mark, bool device_ring) = 0;
};

}  // namespace unstarve::trace
