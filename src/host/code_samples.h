#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"

namespace unstarve::host {

/// Where a thread was on a CPU at one moment.
struct CodeSample {
  std::int64_t t_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  std::uint64_t address = 0;  // of the instruction, in the memory of the process
};

/// Samples of what threads run, each after the same time that one of them was on a CPU.
class CodeSamples {
 public:
  virtual ~CodeSamples() = default;
  /// Appends what came since the last time.
  virtual void drain(std::vector<CodeSample>& to) = 0;
};

/// Those of a process and of all that it starts from now on, by the kernel's perf events: from
/// outside, in programs of any language, and without a signal to any of them. Instructions of the
/// kernel are left out, as they are where kernel.perf_event_paranoid is 2. Ends with the object.
/// Errors: kNoPermission where that setting, or a container's list of allowed calls, forbids it;
/// kNotSupported where the kernel has no such events.
Result<std::unique_ptr<CodeSamples>> open_code_samples(pid_t process, std::int64_t period_ns);

}  // namespace unstarve::host
