#pragma once

#include <string_view>

#include "trace/run_rows.h"
#include "trace/timeline.h"

namespace unstarve::trace {

/// Puts rows and events of a run into a Timeline. finish() comes last.
class TimelineSink final : public RunSink {
 public:
  explicit TimelineSink(Timeline& timeline) : timeline_(timeline), names_(timeline) {}

  void add(const ProcessRow&) override {}
  void add(const ProcessEnd&) override {}
  void set_process_text(const ProcessId&, std::string_view) override {}
  void add(const StepRow& row) override;
  void add(const LoaderRow& row) override;
  void add(const WaitRow& row) override;
  void add(const FetchRow& row) override;
  void add(const StageRow& row) override;
  void add(const SyncRow& row) override;
  void add(const DeviceRow& row) override;
  void add(const DeviceOp& operation, std::string_view name) override;
  void add(const HostCall& call, std::string_view name) override;
  /// Marks are totals: the last one of each ring counts.
  void set_mark(const RingMark& mark, bool device_ring) override;

  /// Sorts everything, and names the devices that have operations but no row.
  void finish();

 private:
  Timeline& timeline_;
  NameTable names_;
  std::vector<RingMark> marks_;
};

}  // namespace unstarve::trace
