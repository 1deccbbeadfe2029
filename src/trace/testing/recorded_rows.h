#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/store/run_sink.h"

namespace unstarve::trace {

/// Keeps what tests and fuzzers hand to a RunSink.
class RecordedRows final : public RunSink {
 public:
  void add(const ProcessRow& row) override { processes.push_back(row); }
  void add(const ProcessEnd& row) override { ends.push_back(row); }
  void add(const StepRow& row) override { steps.push_back(row); }
  void add(const LoaderRow& row) override { loaders.push_back(row); }
  void add(const WaitRow& row) override { waits.push_back(row); }
  void add(const FetchRow& row) override { fetches.push_back(row); }
  void add(const StageRow& row) override { stages.push_back(row); }
  void add(const SyncRow& row) override { syncs.push_back(row); }
  void add(const StackRow& row, std::string_view stack) override {
    stacks.emplace_back(row, stack);
  }
  void add(const HostWorkRow& row) override { host_work.push_back(row); }
  void add(const DeviceRow& row) override { devices.push_back(row); }
  void add(const WindowRow& row) override { windows.push_back(row); }
  void add(const DeviceOp& operation, std::string_view name) override {
    operations.emplace_back(operation, name);
  }
  void add(const HostCall& call, std::string_view name) override { calls.emplace_back(call, name); }
  void set_process_text(const ProcessId& id, std::string_view text) override {
    texts.emplace_back(id.pid, text);
  }
  void set_mark(const RingMark& mark, bool) override { marks.push_back(mark); }

  std::vector<ProcessRow> processes;
  std::vector<ProcessEnd> ends;
  std::vector<StepRow> steps;
  std::vector<LoaderRow> loaders;
  std::vector<WaitRow> waits;
  std::vector<FetchRow> fetches;
  std::vector<StageRow> stages;
  std::vector<SyncRow> syncs;
  std::vector<std::pair<StackRow, std::string>> stacks;
  std::vector<HostWorkRow> host_work;
  std::vector<DeviceRow> devices;
  std::vector<WindowRow> windows;
  std::vector<std::pair<DeviceOp, std::string>> operations;
  std::vector<std::pair<HostCall, std::string>> calls;
  std::vector<std::pair<std::int64_t, std::string>> texts;
  std::vector<RingMark> marks;
};

}  // namespace unstarve::trace
