#pragma once

#include <cstdint>

#include "trace/timeline/timeline.h"

namespace unstarve::diagnose::test {

inline constexpr std::int64_t kMs = 1'000'000;

/// Steps of 100 ms that begin with a wait; a kernel runs for the last `busy_ms` of each.
inline trace::Timeline starving_run(std::int64_t steps, std::int64_t wait_ms,
                                    std::int64_t busy_ms) {
  trace::Timeline timeline;
  timeline.input = trace::InputKind::kRun;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start = i * 100 * kMs;
    trace::Step step;
    step.when = {start, start + 100 * kMs};
    step.thread = 7;
    step.process = 7;
    timeline.steps.push_back(step);
    trace::LoaderWait wait;
    // The first step is a warm-up that must not count.
    wait.when = {start, start + (i == 0 ? 99 : wait_ms) * kMs};
    wait.thread = 7;
    wait.process = 7;
    timeline.loader_waits.push_back(wait);
    if (busy_ms == 0) continue;
    trace::DeviceOp op;
    op.start_ns = step.when.end_ns - busy_ms * kMs;
    op.end_ns = step.when.end_ns;
    op.correlation = i;
    timeline.device_ops.push_back(op);
    trace::HostCall call;
    call.start_ns = op.start_ns - 10'000;
    call.end_ns = op.start_ns - 5'000;
    call.correlation = i;
    call.kind = trace::HostCallKind::kLaunch;
    call.thread = 7;
    call.process = 7;
    timeline.host_calls.push_back(call);
  }
  return timeline;
}

}  // namespace unstarve::diagnose::test
