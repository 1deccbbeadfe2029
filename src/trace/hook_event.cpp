#include "trace/hook_event.h"

#include <cstring>
#include <limits>

namespace unstarve::trace {

namespace {

struct RawHookEvent {
  std::uint16_t event;
  std::uint16_t flags;
  std::uint32_t thread_id;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t numbers[5];
};
static_assert(sizeof(RawHookEvent) == 64);

enum EventNumber : std::uint16_t {
  kProcess = 1,
  kStep = 2,
  kLoader = 3,
  kWait = 4,
  kFetch = 5,
  kProcessEnd = 6,
  kSync = 7,
  kStage = 8,
  kStack = 9,
  kHostWork = 11,
};

Reading<std::int64_t> reading(std::int64_t number) {
  if (number == std::numeric_limits<std::int64_t>::min()) return WhyAbsent::kNotObserved;
  return number;
}

/// Counts and durations: what is below zero was not measured, whatever wrote it.
Reading<std::int64_t> count(std::int64_t number) {
  if (number < 0) return WhyAbsent::kNotObserved;
  return number;
}

void add_process(const RawHookEvent& raw, const ProcessId& id, RunSink& sink) {
  ProcessRow row;
  row.id = id;
  row.ppid = count(raw.numbers[1]);
  const std::int64_t role = raw.numbers[2];
  row.role = role == 0   ? ProcessRole::kMain
             : role == 1 ? ProcessRole::kLoaderWorker
                         : ProcessRole::kOther;
  row.started_ns = raw.start_ns;
  sink.add(row);
}

void add_step(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  StepRow row;
  row.pid = pid;
  row.thread = raw.thread_id;
  row.index = count(raw.numbers[0]).value_or(0);
  row.when = {raw.start_ns, raw.end_ns};
  row.samples = count(raw.numbers[1]);
  row.source = step_source(count(raw.numbers[2]).value_or(0));
  sink.add(row);
}

void add_loader(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  LoaderRow row;
  row.pid = pid;
  row.loader_id = reading(raw.numbers[0]).value_or(0);
  row.num_workers = count(raw.numbers[1]).value_or(0);
  row.prefetch_factor = count(raw.numbers[2]);
  row.batch_size = count(raw.numbers[3]);
  if (const auto flags = count(raw.numbers[4])) row.flags = loader_flags(*flags);
  row.made_ns = raw.start_ns;
  row.ready_ns = raw.end_ns;
  row.thread = raw.thread_id;
  sink.add(row);
}

void add_wait(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  WaitRow row;
  row.pid = pid;
  row.thread = raw.thread_id;
  row.loader_id = reading(raw.numbers[0]).value_or(0);
  row.batch = count(raw.numbers[1]);
  row.when = {raw.start_ns, raw.end_ns};
  row.ready_batches = count(raw.numbers[2]);
  row.samples = count(raw.numbers[3]);
  row.ended = raw.numbers[4] == 1;
  sink.add(row);
}

void add_fetch(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  FetchRow row;
  row.pid = pid;
  row.thread = raw.thread_id;
  row.loader_id = reading(raw.numbers[0]);
  row.when = {raw.start_ns, raw.end_ns};
  row.samples = count(raw.numbers[1]);
  row.cpu_ns = count(raw.numbers[2]);
  row.decode_ns = count(raw.numbers[3]);
  row.collate_ns = count(raw.numbers[4]);
  sink.add(row);
}

/// False when the record names a stage that there is not.
bool add_stage(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  const std::int64_t stage = raw.numbers[1];
  if (stage < 0 || stage > static_cast<std::int64_t>(LoaderStage::kBatch)) return false;
  StageRow row;
  row.pid = pid;
  row.loader_id = reading(raw.numbers[0]).value_or(0);
  row.stage = static_cast<LoaderStage>(stage);
  row.when = {raw.start_ns, raw.end_ns};
  row.spent_ns = count(raw.numbers[2]).value_or(0);
  row.amount = count(raw.numbers[3]);
  row.threads = count(raw.numbers[4]);
  sink.add(row);
  return true;
}

/// False when the record cannot be one. A stack without words (there were too many, or the file of
/// names is gone) is passed on as such: the time is the thread's all the same.
bool add_stack(const RawHookEvent& raw, std::int64_t pid, RingNamesReader* stacks, RunSink& sink) {
  constexpr std::int64_t kLongestPeriodNs = 60'000'000'000;
  const std::int64_t period_ns = raw.numbers[1];
  if (period_ns <= 0 || period_ns > kLongestPeriodNs) return false;
  if (stacks == nullptr) return true;
  const Reading<std::int64_t> number = count(raw.numbers[0]);
  const std::string_view words =
      number ? stacks->name(static_cast<std::uint64_t>(*number)) : std::string_view();
  const std::int64_t late_ns = count(raw.numbers[2]).value_or(0);
  sink.add(StackRow{pid, raw.thread_id, raw.start_ns, period_ns, late_ns}, words);
  return true;
}

/// False when the record names a kind of work that there is not.
bool add_host_work(const RawHookEvent& raw, std::int64_t pid, RunSink& sink) {
  const std::int64_t kind = raw.numbers[0];
  if (kind < 0 || kind > static_cast<std::int64_t>(kLastHostWorkKind)) return false;
  sink.add(
      HostWorkRow{pid, raw.thread_id, static_cast<HostWorkKind>(kind), {raw.start_ns, raw.end_ns}});
  return true;
}

}  // namespace

HookRecord decode_hook_event(std::span<const std::byte> record, const ProcessId& id, RunSink& sink,
                             RingNamesReader* stacks) {
  const std::int64_t pid = id.pid;
  RawHookEvent raw;
  if (record.size() != sizeof(raw)) return HookRecord::kDamaged;
  std::memcpy(&raw, record.data(), sizeof(raw));
  if (raw.start_ns < 0 || raw.end_ns < raw.start_ns) return HookRecord::kDamaged;
  switch (raw.event) {
    case kProcess: add_process(raw, id, sink); break;
    case kStep: add_step(raw, pid, sink); break;
    case kLoader: add_loader(raw, pid, sink); break;
    case kWait: add_wait(raw, pid, sink); break;
    case kFetch: add_fetch(raw, pid, sink); break;
    case kProcessEnd: sink.add(ProcessEnd{id, raw.end_ns}); return HookRecord::kEnd;
    case kSync: sink.add(SyncRow{pid, raw.thread_id, {raw.start_ns, raw.end_ns}}); break;
    case kStage:
      if (!add_stage(raw, pid, sink)) return HookRecord::kDamaged;
      break;
    case kStack:
      if (!add_stack(raw, pid, stacks, sink)) return HookRecord::kDamaged;
      break;
    case kHostWork:
      if (!add_host_work(raw, pid, sink)) return HookRecord::kDamaged;
      break;
    default: return HookRecord::kDamaged;
  }
  return HookRecord::kTaken;
}

}  // namespace unstarve::trace
