#pragma once

#include <string_view>

#include "trace/store/run_rows.h"

namespace unstarve::trace {

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
