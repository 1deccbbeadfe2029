#pragma once

#include <cstdint>
#include <random>

#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// A small recording that holds anything: some steps, calls of three threads, work on a device,
/// waits, host work, windows. The same seed gives the same one.
class RandomTimeline {
 public:
  explicit RandomTimeline(unsigned seed) : random_(seed) {}

  trace::Timeline make() {
    trace::Timeline timeline;
    if (pick(0, 9) > 0) add_steps(timeline);
    for (std::int64_t thread = 1; thread <= 3; ++thread) add_thread(timeline, thread);
    add_waits(timeline, 1);
    if (pick(0, 3) == 0) add_waits(timeline, 2);
    if (pick(0, 2) == 0) add_host_work(timeline);
    const std::int64_t unlaunched = pick(0, 4);
    for (std::int64_t i = 0; i < unlaunched; ++i) add_op(timeline, trace::kNoCorrelation, 0);
    if (pick(0, 1) == 0) add_windows(timeline);
    if (pick(0, 9) == 0) timeline.events_lost = 1;
    sort_by_start(timeline);
    return timeline;
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  void add_steps(trace::Timeline& timeline) {
    std::int64_t at = pick(0, 40);
    for (std::int64_t i = pick(1, 3); i > 0; --i) {
      trace::Step step;
      step.when = {at, at + pick(20, 80)};
      step.thread = 1;
      step.process = 1;
      at = step.when.end_ns;
      timeline.steps.push_back(step);
    }
  }

  // Calls of one thread follow one another; some put work on the device.
  void add_thread(trace::Timeline& timeline, std::int64_t thread) {
    std::int64_t at = pick(0, 30);
    for (std::int64_t i = pick(0, 12); i > 0; --i) {
      trace::HostCall call;
      call.start_ns = at + pick(0, 15);
      call.end_ns = call.start_ns + pick(0, 20);
      call.thread = thread;
      call.process = 1;
      at = call.end_ns + 1;
      call.kind = pick(0, 2) == 0 ? trace::HostCallKind::kSync : trace::HostCallKind::kLaunch;
      call.correlation = ++correlation_;
      timeline.host_calls.push_back(call);
      if (call.kind == trace::HostCallKind::kLaunch && pick(0, 5) > 0)
        add_op(timeline, correlation_, call.start_ns);
    }
  }

  void add_op(trace::Timeline& timeline, std::int64_t correlation, std::int64_t not_before) {
    trace::DeviceOp op;
    op.start_ns = not_before + pick(0, 40);
    op.end_ns = op.start_ns + pick(0, 12);
    op.kind = static_cast<trace::DeviceOpKind>(pick(0, 3));
    op.correlation = correlation;
    op.stream = static_cast<std::int32_t>(pick(0, 3));
    timeline.device_ops.push_back(op);
  }

  void add_waits(trace::Timeline& timeline, std::int64_t thread) {
    std::int64_t at = pick(0, 40);
    for (std::int64_t i = pick(0, 3); i > 0; --i) {
      trace::LoaderWait wait;
      wait.when = {at, at + pick(0, 25)};
      wait.thread = thread;
      wait.process = 1;
      at = wait.when.end_ns + pick(0, 40);
      timeline.loader_waits.push_back(wait);
    }
  }

  void add_host_work(trace::Timeline& timeline) {
    for (std::int64_t i = pick(1, 3); i > 0; --i) {
      trace::HostWork work;
      const std::int64_t at = pick(0, 120);
      work.when = {at, at + pick(0, 25)};
      work.thread = pick(1, 2);
      work.process = 1;
      work.kind = static_cast<trace::HostWorkKind>(pick(0, 1));
      timeline.host_work.push_back(work);
    }
  }

  void add_windows(trace::Timeline& timeline) {
    std::int64_t at = pick(0, 40);
    for (std::int64_t i = pick(1, 3); i > 0; --i) {
      trace::RecordedWindow window;
      window.when = {at, at + pick(0, 60)};
      window.process = 1;
      at = window.when.end_ns + pick(-5, 40);
      timeline.windows.push_back(window);
    }
  }

  std::mt19937 random_;
  std::int64_t correlation_ = 0;
};

}  // namespace unstarve::diagnose
