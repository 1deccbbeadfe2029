#include "emulated/process/records/recorder.h"

#include <sched.h>

#include "emulated/process/gpu.h"
#include "emulated/process/records/recorder_state.h"

namespace unstarve::emulated {

namespace {

// How deep this thread is inside the sink: it may take the sink away itself.
thread_local int t_inside_sink = 0;

std::uint64_t unsigned_ns(std::int64_t ns) { return static_cast<std::uint64_t>(ns); }

template <class Record>
void set_common(Record& record, const Ended& ended, std::uint64_t stream) {
  record.start_ns = unsigned_ns(ended.start_ns);
  record.end_ns = unsigned_ns(ended.end_ns);
  record.device_id = static_cast<std::uint32_t>(ended.device);
  record.context_id = static_cast<std::uint32_t>(ended.device) + 1;
  record.stream_id = static_cast<std::uint32_t>(stream);
  record.correlation_id = ended.activity.correlation;
  record.graph_node_id = ended.activity.graph_node;
  record.graph_id = ended.activity.graph;
}

cupti::Kernel kernel_record(const Ended& ended, std::uint64_t stream) {
  const Activity& activity = ended.activity;
  cupti::Kernel record;
  set_common(record, ended, stream);
  record.completed_ns = record.end_ns;
  record.queued_ns = unsigned_ns(activity.issued_ns);
  record.submitted_ns = unsigned_ns(activity.issued_ns);
  for (std::size_t i = 0; i < 3; ++i) {
    record.grid[i] = static_cast<std::int32_t>(activity.grid[i]);
    record.block[i] = static_cast<std::int32_t>(activity.block[i]);
  }
  record.dynamic_shared_memory = static_cast<std::int32_t>(activity.shared_memory_bytes);
  record.grid_id = activity.correlation;
  return record;
}

cupti::Memcpy copy_record(const Ended& ended, std::uint64_t stream) {
  cupti::Memcpy record;
  set_common(record, ended, stream);
  record.copy_kind = ended.activity.copy_kind;
  record.source_kind = ended.activity.source_memory;
  record.target_kind = ended.activity.target_memory;
  record.flags = ended.activity.asynchronous ? 1 : 0;
  record.bytes = ended.activity.bytes;
  record.runtime_correlation_id = record.correlation_id;
  return record;
}

cupti::Memset fill_record(const Ended& ended, std::uint64_t stream) {
  cupti::Memset record;
  set_common(record, ended, stream);
  record.value = ended.activity.value;
  record.bytes = ended.activity.bytes;
  record.flags = ended.activity.asynchronous ? 1 : 0;
  record.memory_kind = ended.activity.target_memory;
  return record;
}

}  // namespace

Recorder& Recorder::get() {
  static auto* recorder = new Recorder;
  return *recorder;
}

template <class Tell>
void Recorder::tell(Tell call) {
  if (sink_.load(std::memory_order_relaxed) == nullptr) return;
  telling_.fetch_add(1);
  ++t_inside_sink;
  if (RecordSink* sink = sink_.load()) call(*sink);
  --t_inside_sink;
  telling_.fetch_sub(1);
}

void Recorder::set_sink(RecordSink* sink) {
  sink_.store(sink);
  while (telling_.load() > t_inside_sink) ::sched_yield();
}

void Recorder::add_ring(int gpu, DeviceRing ring) {
  MutexLock lock(mutex_);
  const auto index = static_cast<std::size_t>(gpu);
  while (rings_.size() <= index) rings_.emplace_back();
  rings_[index].emplace(std::move(ring));
  ring_count_.fetch_add(1);
}

DeviceRing* Recorder::ring(int gpu) {
  if (gpu < 0 || static_cast<std::size_t>(gpu) >= rings_.size()) return nullptr;
  std::optional<DeviceRing>& ring = rings_[static_cast<std::size_t>(gpu)];
  return ring ? &*ring : nullptr;
}

void Recorder::operation_ended(const Ended& ended, std::uint64_t stream, int machine_index) {
  // The rings count the machine's devices, CUPTI those that the process sees.
  const auto write = [&](auto record, auto deliver) {
    tell([&](RecordSink& sink) { deliver(sink, record); });
    MutexLock lock(mutex_);
    DeviceRing* out = ring(ended.device);
    if (out == nullptr) return;
    record.device_id = static_cast<std::uint32_t>(machine_index);
    if constexpr (std::is_same_v<decltype(record), cupti::Kernel>) {
      out->write(record, ended.activity.name);
    } else {
      out->write(record);
    }
  };
  switch (ended.activity.kind) {
    case Activity::Kind::kKernel:
      return write(kernel_record(ended, stream), [&](RecordSink& sink, const auto& record) {
        sink.kernel_ended(record, ended.activity.name);
      });
    case Activity::Kind::kCopy:
      return write(copy_record(ended, stream),
                   [](RecordSink& sink, const auto& record) { sink.copy_ended(record); });
    case Activity::Kind::kFill:
      return write(fill_record(ended, stream),
                   [](RecordSink& sink, const auto& record) { sink.fill_ended(record); });
    case Activity::Kind::kNone: return;
  }
}

void Recorder::call_begins(const CallRecord& call) {
  tell([&](RecordSink& sink) { sink.call_begins(call); });
}

void Recorder::call_ended(const CallRecord& call) {
  tell([&](RecordSink& sink) { sink.call_ended(call); });
}

void Recorder::wait_ended(const cupti::Synchronization& wait) {
  tell([&](RecordSink& sink) { sink.wait_ended(wait); });
}

void Recorder::memory_changed(int gpu, std::uint64_t used_bytes) {
  if (ring_count_.load() == 0) return;
  cupti::EmulatedState state;
  state.time_ns = unsigned_ns(now_ns());
  state.memory_used_bytes = used_bytes;
  MutexLock lock(mutex_);
  if (DeviceRing* out = ring(gpu)) out->write(state);
}

void set_sink(RecordSink* sink) { Recorder::get().set_sink(sink); }

}  // namespace unstarve::emulated
