#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"

namespace unstarve::host {

/// Where a thread was on a CPU at one moment.
struct CodeSample {
  std::int64_t t_ns = 0;      // CLOCK_MONOTONIC
  std::uint64_t address = 0;  // of the instruction, in the memory of its process
};

/// Samples of what a thread runs, each after the same time that it was on a CPU.
class CodeSamples {
 public:
  virtual ~CodeSamples() = default;
  /// Appends what came since the last time, by time.
  virtual void drain(std::vector<CodeSample>& to) = 0;
  /// Whether the thread has ended: nothing comes any more.
  virtual bool has_ended() const = 0;
};

/// Those of the thread with this id, by the kernel's perf events: from outside, in programs of any
/// language, and without a signal to any of them. Instructions of the kernel are left out, as they
/// have to be where kernel.perf_event_paranoid is 2. Ends with the object.
/// Errors: kNotFound where there is no such thread (any more); kNoPermission where that setting, or
/// a container's list of allowed calls, forbids it; kNotSupported where the kernel has no such
/// events.
Result<std::unique_ptr<CodeSamples>> open_code_samples(pid_t thread, std::int64_t period_ns);

}  // namespace unstarve::host
