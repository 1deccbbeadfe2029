#include "trace/timeline_sink.h"

#include <algorithm>
#include <set>

namespace unstarve::trace {

void TimelineSink::add(const StepRow& row) {
  Step step;
  step.when = row.when;
  step.index = row.index;
  step.thread = row.thread;
  step.process = row.pid;
  step.samples = row.samples;
  step.source = row.source;
  timeline_.steps.push_back(step);
}

void TimelineSink::add(const LoaderRow& row) {
  LoaderConfig loader;
  loader.process = row.pid;
  loader.made_ns = row.made_ns;
  loader.ready_ns = row.ready_ns;
  loader.thread = row.thread.value_or(0);
  loader.id = row.loader_id;
  loader.num_workers = row.num_workers;
  loader.prefetch_factor = row.prefetch_factor;
  loader.batch_size = row.batch_size;
  if (row.flags) {
    loader.pin_memory = row.flags->pin_memory;
    loader.persistent_workers = row.flags->persistent_workers;
    loader.native = row.flags->native;
  }
  timeline_.loaders.push_back(loader);
}

void TimelineSink::add(const WaitRow& row) {
  LoaderWait wait;
  wait.when = row.when;
  wait.thread = row.thread;
  wait.process = row.pid;
  wait.loader_id = row.loader_id;
  wait.ready_batches = row.ready_batches;
  wait.samples = row.samples;
  wait.ended = row.ended;
  timeline_.loader_waits.push_back(wait);
}

void TimelineSink::add(const FetchRow& row) {
  Fetch fetch;
  fetch.when = row.when;
  fetch.process = row.pid;
  fetch.thread = row.thread;
  fetch.loader_id = row.loader_id;
  fetch.samples = row.samples;
  fetch.cpu_ns = row.cpu_ns;
  fetch.decode_ns = row.decode_ns;
  fetch.collate_ns = row.collate_ns;
  timeline_.fetches.push_back(fetch);
}

void TimelineSink::add(const StageRow& row) {
  StageTime time;
  time.when = row.when;
  time.process = row.pid;
  time.loader_id = row.loader_id;
  time.stage = row.stage;
  time.spent_ns = row.spent_ns;
  time.amount = row.amount;
  time.threads = row.threads;
  timeline_.stages.push_back(time);
}

void TimelineSink::add(const SyncRow& row) {
  HostCall call;
  call.start_ns = row.when.start_ns;
  call.end_ns = row.when.end_ns;
  call.thread = row.thread;
  call.process = row.pid;
  call.kind = HostCallKind::kSync;
  call.name = names_.intern("blocking call from Python");
  timeline_.host_calls.push_back(call);
}

void TimelineSink::add(const StackRow& row, std::string_view stack) {
  const auto next = static_cast<std::uint32_t>(timeline_.stacks.size());
  const auto [known, is_new] = stacks_.try_emplace(std::string(stack), next);
  if (is_new) timeline_.stacks.push_back(parse_stack(stack));
  timeline_.stack_samples.push_back(
      {row.t_ns, row.pid, row.thread, row.period_ns, row.late_ns, known->second});
}

void TimelineSink::add(const HostWorkRow& row) {
  timeline_.host_work.push_back({row.when, row.thread, row.pid, row.kind});
}

void TimelineSink::add(const DeviceRow& row) {
  const auto index = static_cast<std::int32_t>(row.index);
  const auto same = [index](const DeviceInfo& device) { return device.index == index; };
  auto entry = std::find_if(timeline_.devices.begin(), timeline_.devices.end(), same);
  if (entry == timeline_.devices.end()) {
    entry = timeline_.devices.insert(timeline_.devices.end(), DeviceInfo{});
  }
  entry->index = index;
  entry->name = row.name;
  entry->emulated = row.emulated;
  entry->total_memory_bytes = row.total_memory_bytes;
}

void TimelineSink::add(const WindowRow& row) {
  const auto [entry, is_new] =
      windows_.try_emplace({row.process.pid, row.process.born_ns, row.number}, row);
  // One that came after they were chosen is read.
  if (is_new && !left_out_.empty()) left_out_[row.process.pid].try_emplace(row.start_ns, false);
  if (is_new) return;
  const Reading<std::int64_t> end_ns = row.end_ns ? row.end_ns : entry->second.end_ns;
  entry->second = row;
  entry->second.end_ns = end_ns;
}

void TimelineSink::add(const DeviceOp& operation, std::string_view name) {
  if (is_left_out(process_of(operation.correlation), operation.start_ns)) return;
  timeline_.device_ops.push_back(operation);
  timeline_.device_ops.back().name = names_.intern(name);
}

void TimelineSink::add(const HostCall& call, std::string_view name) {
  if (is_left_out(call.process, call.start_ns)) return;
  timeline_.host_calls.push_back(call);
  timeline_.host_calls.back().name = names_.intern(name);
}

void TimelineSink::set_mark(const RingMark& mark, bool) {
  marks_.insert_or_assign(mark.file, mark);
}

void TimelineSink::leave_out_windows(int level) {
  const SlotPlan lots = {.origin_ns = 0, .slot_ns = 1, .level = level};
  for (auto at = windows_.begin(); at != windows_.end();) {
    const WindowRow& window = at->second;
    const bool left_out = !lots.keeps(window.number);
    left_out_[window.process.pid][window.start_ns] = left_out;
    at = left_out ? windows_.erase(at) : std::next(at);
  }
}

// The clocks of host and device may differ by a little.
bool TimelineSink::is_left_out(std::int64_t process, std::int64_t t_ns) const {
  constexpr std::int64_t kClockErrorNs = 1'000'000;
  const auto windows = left_out_.find(process);
  if (windows == left_out_.end()) return false;
  const auto after = windows->second.upper_bound(t_ns + kClockErrorNs);
  return after != windows->second.begin() && std::prev(after)->second;
}

void TimelineSink::add_windows() {
  std::map<std::int64_t, std::int64_t> last_ns;  // of each process: the end of its last record
  const auto note = [&last_ns](std::int64_t process, std::int64_t end_ns) {
    std::int64_t& last = last_ns.try_emplace(process, end_ns).first->second;
    last = std::max(last, end_ns);
  };
  for (const HostCall& call : timeline_.host_calls) {
    if (call.correlation != kNoCorrelation) note(call.process, call.end_ns);
  }
  for (const DeviceOp& op : timeline_.device_ops) note(process_of(op.correlation), op.end_ns);
  for (const auto& [key, row] : windows_) {
    RecordedWindow window;
    window.process = row.process.pid;
    // Only the last window of a process can be one that nobody closed.
    const auto last = last_ns.find(window.process);
    const std::int64_t last_end_ns = last == last_ns.end() ? row.start_ns : last->second;
    window.when = {row.start_ns, row.end_ns.value_or(std::max(row.start_ns, last_end_ns))};
    window.clock_error_ns = row.clock_error_ns;
    window.records_lost = row.records_lost;
    timeline_.events_lost += row.records_lost;
    timeline_.windows.push_back(window);
  }
}

void TimelineSink::drop_what_stood_for_steps() {
  std::set<std::int64_t> with_optimizer;
  for (const Step& step : timeline_.steps) {
    if (step.source == StepSource::kOptimizer) with_optimizer.insert(step.process);
  }
  const auto stands_for_no_step = [&with_optimizer](const Step& step) {
    return step.source != StepSource::kOptimizer && with_optimizer.count(step.process) != 0;
  };
  timeline_.steps.erase(
      std::remove_if(timeline_.steps.begin(), timeline_.steps.end(), stands_for_no_step),
      timeline_.steps.end());
}

void TimelineSink::finish() {
  add_windows();
  drop_what_stood_for_steps();
  for (const auto& [file, mark] : marks_) {
    timeline_.events_lost += static_cast<std::int64_t>(mark.lost + mark.damaged);
  }
  // Damaged events may name a device each.
  std::set<decltype(DeviceInfo::index)> known;
  for (const DeviceInfo& device : timeline_.devices) known.insert(device.index);
  for (const DeviceOp& operation : timeline_.device_ops) {
    if (!known.insert(operation.device).second) continue;
    DeviceInfo device;
    device.index = operation.device;
    timeline_.devices.push_back(device);
  }
  std::stable_sort(timeline_.devices.begin(), timeline_.devices.end(),
                   [](const DeviceInfo& a, const DeviceInfo& b) { return a.index < b.index; });
  sort_by_start(timeline_);
}

}  // namespace unstarve::trace
