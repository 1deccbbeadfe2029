#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/store/run_sink.h"
#include "trace/timeline/timeline.h"

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
  void add(const StackRow& row, std::string_view stack) override;
  void add(const HostWorkRow& row) override;
  void add(const DeviceRow& row) override;
  void add(const WindowRow& row) override;
  void add(const DeviceOp& operation, std::string_view name) override;
  void add(const HostCall& call, std::string_view name) override;
  /// Marks are totals: the last one of each ring counts.
  void set_mark(const RingMark& mark, bool device_ring) override;

  /// How many windows there are so far, of all processes.
  std::size_t windows() const { return windows_.size(); }
  /// From now on takes the events of one of each 2^level neighbouring windows alone, drawn by lot,
  /// and leaves the others out as if they had never been.
  void leave_out_windows(int level);

  /// Sorts everything, ends the windows that nobody closed, and names the devices that have
  /// operations but no row.
  void finish();

 private:
  void add_windows();
  /// Whether what a process did then was recorded in a window that is left out.
  bool is_left_out(std::int64_t process, std::int64_t t_ns) const;
  /// Batches and backward() calls before an optimizer stepped are part of its first step.
  void drop_what_stood_for_steps();

  Timeline& timeline_;
  NameTable names_;
  std::unordered_map<std::string, std::uint32_t> stacks_;  // by their words
  std::unordered_map<std::string, RingMark> marks_;
  // By process, when it made its ring, and number: each comes again when it has closed.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, WindowRow> windows_;
  // Of each process: when a window begins, and whether it is left out. None: all are read.
  std::map<std::int64_t, std::map<std::int64_t, bool>> left_out_;
};

}  // namespace unstarve::trace
