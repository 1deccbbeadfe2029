#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "trace/store/columns.h"
#include "trace/store/gpu_error.h"
#include "trace/store/process_record.h"
#include "trace/store/run_rows.h"

namespace unstarve::trace {

// The tables of run.sqlite (docs/formats/run.md): each column stands here and nowhere else, but for
// the tables `run`, `stack` and `thinned`, and what merges rows. In this order they are written.

template <>
struct Table<ProcessRecord> {
  static constexpr const char* kName = "process";
  static constexpr std::string_view kKey = "pid, born_ns";
  static constexpr auto kId = in(&ProcessRecord::row, &ProcessRow::id);
  static constexpr auto kColumns =
      std::tuple(column("pid", in(kId, &ProcessId::pid)),
                 column("ppid", in(&ProcessRecord::row, &ProcessRow::ppid)),
                 column("role", in(&ProcessRecord::row, &ProcessRow::role)),
                 column("started_ns", in(&ProcessRecord::row, &ProcessRow::started_ns)),
                 column("ended_ns", &ProcessRecord::ended_ns), column("text", &ProcessRecord::text),
                 column("born_ns", in(kId, &ProcessId::born_ns)));
};

template <>
struct Table<StepRow> : WithoutKey {
  static constexpr const char* kName = "step";
  static constexpr auto kColumns =
      std::tuple(column("pid", &StepRow::pid), column("tid", &StepRow::thread),
                 column("idx", &StepRow::index), start_of(&StepRow::when), end_of(&StepRow::when),
                 column("samples", &StepRow::samples), column("source", &StepRow::source));
};

template <>
struct Table<LoaderRow> : WithoutKey {
  static constexpr const char* kName = "loader";
  static constexpr auto kColumns =
      std::tuple(column("pid", &LoaderRow::pid), column("loader_id", &LoaderRow::loader_id),
                 column("num_workers", &LoaderRow::num_workers),
                 column("prefetch_factor", &LoaderRow::prefetch_factor),
                 column("batch_size", &LoaderRow::batch_size), column("flags", &LoaderRow::flags),
                 column("made_ns", &LoaderRow::made_ns), column("ready_ns", &LoaderRow::ready_ns),
                 column("tid", &LoaderRow::thread));
};

template <>
struct Table<WaitRow> : WithoutKey {
  static constexpr const char* kName = "wait";
  static constexpr auto kColumns =
      std::tuple(column("pid", &WaitRow::pid), column("tid", &WaitRow::thread),
                 column("loader_id", &WaitRow::loader_id), column("batch", &WaitRow::batch),
                 start_of(&WaitRow::when), end_of(&WaitRow::when),
                 column("ready_batches", &WaitRow::ready_batches),
                 column("samples", &WaitRow::samples), column("ended", &WaitRow::ended));
};

template <>
struct Table<FetchRow> : WithoutKey {
  static constexpr const char* kName = "fetch";
  static constexpr auto kColumns = std::tuple(
      column("pid", &FetchRow::pid), column("tid", &FetchRow::thread),
      column("loader_id", &FetchRow::loader_id), start_of(&FetchRow::when), end_of(&FetchRow::when),
      column("samples", &FetchRow::samples), column("cpu_ns", &FetchRow::cpu_ns),
      column("decode_ns", &FetchRow::decode_ns), column("collate_ns", &FetchRow::collate_ns));
};

template <>
struct Table<StageRow> : WithoutKey {
  static constexpr const char* kName = "stage";
  static constexpr auto kColumns =
      std::tuple(column("pid", &StageRow::pid), column("loader_id", &StageRow::loader_id),
                 column("stage", &StageRow::stage), start_of(&StageRow::when),
                 end_of(&StageRow::when), column("spent_ns", &StageRow::spent_ns),
                 column("amount", &StageRow::amount), column("threads", &StageRow::threads));
};

template <>
struct Table<SyncRow> : WithoutKey {
  static constexpr const char* kName = "sync";
  static constexpr auto kColumns =
      std::tuple(column("pid", &SyncRow::pid), column("tid", &SyncRow::thread),
                 start_of(&SyncRow::when), end_of(&SyncRow::when));
};

/// A stack that was seen, by its number in the table `stack`.
struct NumberedStackRow {
  StackRow row;
  std::int64_t stack = 0;
};

template <>
struct Table<NumberedStackRow> : WithoutKey {
  static constexpr const char* kName = "stack_sample";
  static constexpr auto kRow = &NumberedStackRow::row;
  static constexpr auto kColumns = std::tuple(
      column("pid", in(kRow, &StackRow::pid)), column("tid", in(kRow, &StackRow::thread)),
      column("t_ns", in(kRow, &StackRow::t_ns)),
      column("period_ns", in(kRow, &StackRow::period_ns)),
      column("late_ns", in(kRow, &StackRow::late_ns)), column("stack", &NumberedStackRow::stack));
};

template <>
struct Table<HostWorkRow> : WithoutKey {
  static constexpr const char* kName = "host_work";
  static constexpr auto kColumns = std::tuple(
      column("pid", &HostWorkRow::pid), column("tid", &HostWorkRow::thread),
      column("kind", &HostWorkRow::kind), start_of(&HostWorkRow::when), end_of(&HostWorkRow::when));
};

template <>
struct Table<DeviceRow> {
  static constexpr const char* kName = "device";
  static constexpr std::string_view kKey = "idx";
  static constexpr auto kColumns =
      std::tuple(column("idx", &DeviceRow::index), column("name", &DeviceRow::name),
                 column("emulated", &DeviceRow::emulated),
                 column("total_memory_bytes", &DeviceRow::total_memory_bytes),
                 column("text", &DeviceRow::text));
};

template <>
struct Table<GpuErrorRow> : WithoutKey {
  static constexpr const char* kName = "gpu_error";
  static constexpr auto kColumns = std::tuple(
      column("t_ns", &GpuErrorRow::t_ns), column("idx", &GpuErrorRow::device),
      column("xid", &GpuErrorRow::xid), column("gpu_instance", &GpuErrorRow::gpu_instance),
      column("compute_instance", &GpuErrorRow::compute_instance));
};

template <>
struct Table<WindowRow> {
  static constexpr const char* kName = "device_window";
  static constexpr std::string_view kKey = "pid, born_ns, number";
  static constexpr auto kColumns = std::tuple(
      column("pid", in(&WindowRow::process, &ProcessId::pid)),
      column("born_ns", in(&WindowRow::process, &ProcessId::born_ns)),
      column("number", &WindowRow::number), column("start_ns", &WindowRow::start_ns),
      column("end_ns", &WindowRow::end_ns), column("clock_error_ns", &WindowRow::clock_error_ns),
      column("records_lost", &WindowRow::records_lost));
};

template <>
struct Table<RingMark> {
  static constexpr const char* kName = "ring";
  static constexpr std::string_view kKey = "file";
  static constexpr auto kColumns =
      std::tuple(column("file", &RingMark::file), column("position", &RingMark::position),
                 column("lost", &RingMark::lost), column("damaged", &RingMark::damaged));
};

template <>
struct Table<MetricRow> {
  static constexpr const char* kName = "metric";
  static constexpr std::string_view kKey = "id";
  static constexpr auto kColumns = std::tuple(
      column("id", &MetricRow::id), column("name", &MetricRow::name),
      column("unit", &MetricRow::unit), column("source", &MetricRow::source),
      column("subject", &MetricRow::subject), column("description", &MetricRow::description));
};

template <>
struct Table<SampleRow> : WithoutKey {
  static constexpr const char* kName = "sample";
  static constexpr auto kColumns =
      std::tuple(column("t_ns", &SampleRow::t_ns), column("metric_id", &SampleRow::metric_id),
                 column("value", &SampleRow::value), column("absent", [](auto& row) {
                   return Absence<std::remove_reference_t<decltype((row.value))>>{row.value};
                 }));
};

template <>
struct Table<FindingRow> : WithoutKey {
  static constexpr const char* kName = "finding";
  static constexpr auto kColumns = std::tuple(
      column("idx", &FindingRow::index), column("cause", &FindingRow::cause),
      column("detail", &FindingRow::detail), column("share", &FindingRow::share),
      column("confidence", &FindingRow::confidence), column("evidence", &FindingRow::evidence_json),
      column("remedies", &FindingRow::remedies_json));
};

template <>
struct Table<PredictionRow> : WithoutKey {
  static constexpr const char* kName = "prediction";
  static constexpr auto kColumns = std::tuple(
      column("remedy", &PredictionRow::remedy),
      column("predicted_speedup", &PredictionRow::predicted_speedup),
      column("low", &PredictionRow::low), column("high", &PredictionRow::high),
      column("measured_speedup", &PredictionRow::measured_speedup),
      column("measured_low", &PredictionRow::measured_low),
      column("measured_high", &PredictionRow::measured_high), column("held", &PredictionRow::held));
};

}  // namespace unstarve::trace
