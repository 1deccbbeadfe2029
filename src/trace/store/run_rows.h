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
ProcessRole parse_process_role(std::string_view text);

/// As the hook and the store have it. A number that is not known is an
/// optimizer's: 1 was the step of a former model of a GPU.
std::int64_t number_of(StepSource source);
StepSource step_source(std::int64_t number);

/// How a loader was made; in the hook's records and in the store as the bits of a number.
struct LoaderFlags {
  bool pin_memory = false;
  bool persistent_workers = false;
  bool native = false;  // unstarve's
};
std::int64_t number_of(const LoaderFlags& flags);
LoaderFlags loader_flags(std::int64_t number);

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
  StepSource source = StepSource::kOptimizer;
};

struct LoaderRow {
  std::int64_t pid = 0;
  std::int64_t loader_id = 0;
  std::int64_t num_workers = 0;
  Reading<std::int64_t> prefetch_factor;
  Reading<std::int64_t> batch_size;
  Reading<LoaderFlags> flags;
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

}  // namespace unstarve::trace
