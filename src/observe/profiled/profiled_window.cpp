#include "observe/profiled/profiled_window.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "observe/import/kineto.h"
#include "observe/profiled/clock_alignment.h"

namespace unstarve::observe {

namespace {

using trace::Timeline;

/// A larger error could move operations into another step.
constexpr std::int64_t kMostErrorNs = 5'000'000;

/// The trace's step marks that the hook noted the time of.
Result<ClockOffset> align(const Timeline& traced, const std::vector<trace::StepMark>& marks) {
  std::map<std::int64_t, const trace::StepMark*> by_step;
  for (const trace::StepMark& mark : marks) by_step.emplace(mark.step, &mark);
  std::vector<ClockBracket> brackets;
  for (const trace::Step& step : traced.steps) {
    const auto mark = by_step.find(step.index);
    if (mark == by_step.end()) continue;
    brackets.push_back({mark->second->before_ns, mark->second->after_ns, step.when.start_ns});
  }
  const Result<ClockOffset> offset = align_clocks(brackets);
  if (!offset) return forward_error(offset);
  if (offset->error_ns > kMostErrorNs) {
    return fail(ErrorCode::kNotSupported, "its clock can be aligned to {:.1f} ms only",
                static_cast<double>(offset->error_ns) / 1e6);
  }
  return offset;
}

/// Moves the contents of one trace into a run.
class Merge {
 public:
  Merge(const Timeline& traced, std::int64_t process, ClockOffset clock, Timeline& run)
      : traced_(traced), process_(process), clock_(clock), run_(run), names_(run) {}

  void perform(const trace::Interval& interruption) {
    number_devices();
    name_threads();
    for (const trace::DeviceOp& op : traced_.device_ops) add(op);
    for (const trace::HostCall& call : traced_.host_calls) add(call);
    run_.events_lost += traced_.events_lost;
    trace::Interval when = {traced_.steps.front().when.start_ns, 0};
    for (const trace::Step& step : traced_.steps) {
      when.end_ns = std::max(when.end_ns, step.when.end_ns);
    }
    trace::RecordedWindow window;
    window.when = {when.start_ns + clock_.offset_ns, when.end_ns + clock_.offset_ns};
    window.process = process_;
    window.clock_error_ns = clock_.error_ns;
    window.interruption = interruption;
    run_.windows.push_back(window);
    trace::sort_by_start(run_);
  }

 private:
  /// Each process numbers the devices that it may see from 0; what another process of the run
  /// calls by a number already is taken to be another device.
  void number_devices() {
    std::set<std::int32_t> taken;
    for (const trace::DeviceOp& op : run_.device_ops) taken.insert(op.device);
    std::set<std::int32_t> used;
    for (const trace::DeviceOp& op : traced_.device_ops) used.insert(op.device);
    for (const std::int32_t device : used) {
      std::int32_t number = device;
      while (taken.count(number) > 0) ++number;
      taken.insert(number);
      devices_[device] = number;
      describe(device, number);
    }
  }

  void describe(std::int32_t device, std::int32_t number) {
    const auto has = [](std::int32_t index) {
      return [index](const trace::DeviceInfo& info) { return info.index == index; };
    };
    if (std::any_of(run_.devices.begin(), run_.devices.end(), has(number))) return;
    const auto known = std::find_if(traced_.devices.begin(), traced_.devices.end(), has(device));
    trace::DeviceInfo info = known == traced_.devices.end() ? trace::DeviceInfo{} : *known;
    info.index = number;
    run_.devices.push_back(info);
  }

  /// A profiler may number threads otherwise than the kernel: the one that its steps are on is the
  /// one that the hook's are on.
  void name_threads() {
    for (const trace::Step& step : run_.steps) {
      if (step.process == process_) threads_[traced_.steps.front().thread] = step.thread;
    }
  }

  void add(trace::DeviceOp op) {
    shift(op.start_ns, op.end_ns);
    op.correlation = correlation(op.correlation);
    op.device = devices_[op.device];
    op.name = names_.intern(traced_.name_of(op.name));
    run_.device_ops.push_back(op);
  }

  void add(trace::HostCall call) {
    shift(call.start_ns, call.end_ns);
    call.correlation = correlation(call.correlation);
    call.process = process_;
    const auto thread = threads_.find(call.thread);
    if (thread != threads_.end()) call.thread = thread->second;
    call.name = names_.intern(traced_.name_of(call.name));
    run_.host_calls.push_back(call);
  }

  void shift(std::int64_t& start_ns, std::int64_t& end_ns) const {
    start_ns += clock_.offset_ns;
    end_ns += clock_.offset_ns;
  }

  std::int64_t correlation(std::int64_t number) const {
    if (number == trace::kNoCorrelation) return number;
    return trace::correlation_of(process_, static_cast<std::uint32_t>(number));
  }

  const Timeline& traced_;
  std::int64_t process_;
  ClockOffset clock_;
  Timeline& run_;
  trace::NameTable names_;
  std::map<std::int32_t, std::int32_t> devices_;
  std::map<std::int64_t, std::int64_t> threads_;
};

}  // namespace

bool has_device_activity(const Timeline& run, std::int64_t process) {
  const auto of_process = [process](const trace::DeviceOp& op) {
    return trace::process_of(op.correlation) == process;
  };
  return std::any_of(run.device_ops.begin(), run.device_ops.end(), of_process) ||
         std::any_of(
             run.windows.begin(), run.windows.end(),
             [process](const trace::RecordedWindow& window) { return window.process == process; });
}

Status add_profiled_window(const std::string& path, std::int64_t process,
                           const trace::ProfileText& profile, Timeline& run) {
  const Result<Timeline> traced = import_kineto(path);
  if (!traced) return forward_error(traced);
  if (traced->device_ops.empty()) {
    return fail(ErrorCode::kNotSupported, "{} holds no GPU activity", path);
  }
  const Result<ClockOffset> clock = align(*traced, profile.marks);
  if (!clock) return fail(clock.error().code, "{}: {}", path, clock.error().message);
  Merge(*traced, process, *clock, run).perform(profile.interruption);
  return {};
}

}  // namespace unstarve::observe
