#include <algorithm>

#include "base/cupti_records.h"
#include "emulated/process/process_gpu.h"
#include "emulated/process/records/recorder_state.h"
#include "emulated/process/waiting.h"

// Streams, and waiting for them.
namespace unstarve::emulated {

namespace {

// A stream holds so many operations; the next call waits until one has ended, as the driver's.
constexpr std::uint64_t kPendingMax = 1024;
constexpr std::uint64_t kDefaultStreamId = 7;

/// The calling thread's own default streams, by GPU; they go with it.
struct ThreadStreams {
  std::vector<Stream*> of_gpu;
  ~ThreadStreams() {
    for (Stream* stream : of_gpu) {
      Machine* machine = Machine::existing();
      if (machine == nullptr || stream == nullptr) continue;
      MutexLock lock(machine->mutex);
      machine->schedule.release_lane(stream->lane);
      machine->streams.erase(stream);
    }
  }
};

}  // namespace

ProcessGpu::ProcessGpu(Machine& machine, int index, int machine_index)
    : machine_(machine),
      index_(index),
      machine_index_(machine_index),
      shared_(SharedState::open(machine.settings().state_folder, machine_index)) {
  MutexLock lock(machine_.mutex);
  legacy_.legacy = true;
  make_stream(legacy_, LaneOrder::kLegacy);
  make_stream(writer_, LaneOrder::kFree);
  legacy_.id = kDefaultStreamId;
  machine_.name_lane(legacy_.lane, legacy_.id);
  if (machine_.settings().step_ns <= 0) return;
  const std::int64_t found = shared_->step().factor_millionths.load(std::memory_order_acquire);
  looks_for_step_ = found <= 0;  // else another process found it, or an earlier run of the job
  if (found > 0) take_step_factor(static_cast<double>(found) * 1e-6);
}

void ProcessGpu::make_stream(Stream& stream, LaneOrder order) {
  stream.gpu = index_;
  stream.blocks_on_default = order != LaneOrder::kFree;
  stream.lane = machine_.schedule.add_lane(index_, order);
  stream.id = ++machine_.last_stream_id;
  machine_.name_lane(stream.lane, stream.id);
  machine_.streams.insert(&stream);
}

void ProcessGpu::use() {
  if (has_context()) return;
  MutexLock lock(context_mutex_);
  if (has_context()) return;
  const Settings& settings = machine_.settings();
  if (!settings.rings_folder.empty()) {
    Result<DeviceRing> ring = DeviceRing::create(
        profile(), {.folder = settings.rings_folder, .index = machine_index_, .now_ns = now_ns()});
    if (ring) Recorder::get().add_ring(index_, std::move(*ring));
  }
  machine_.context_made();
  context_made_.store(true, std::memory_order_release);
  publish_memory();
}

Stream* ProcessGpu::stream_of_thread() {
  static thread_local ThreadStreams streams;
  const auto index = static_cast<std::size_t>(index_);
  if (streams.of_gpu.size() <= index) streams.of_gpu.resize(index + 1, nullptr);
  if (streams.of_gpu[index] == nullptr) {
    auto* stream = new Stream;
    stream->per_thread = true;
    MutexLock lock(machine_.mutex);
    make_stream(*stream, LaneOrder::kBlocking);
    streams.of_gpu[index] = stream;
  }
  return streams.of_gpu[index];
}

Stream* ProcessGpu::find_stream(const void* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return &legacy_;
  if (number == 2) return stream_of_thread();
  MutexLock lock(machine_.mutex);
  const auto found = machine_.streams.find(handle);
  if (found == machine_.streams.end()) return nullptr;
  return const_cast<Stream*>(static_cast<const Stream*>(handle));
}

Outcome ProcessGpu::create_stream(bool blocks_on_default, int priority, Stream** out) {
  use();
  auto* stream = new Stream;
  stream->priority = priority;
  MutexLock lock(machine_.mutex);
  make_stream(*stream, blocks_on_default ? LaneOrder::kBlocking : LaneOrder::kFree);
  *out = stream;
  return Outcome::kSuccess;
}

Outcome ProcessGpu::destroy_stream(Stream* stream) {
  if (stream == nullptr || stream->legacy || stream->per_thread) return Outcome::kInvalidHandle;
  MutexLock lock(machine_.mutex);
  if (machine_.streams.erase(stream) == 0) return Outcome::kInvalidHandle;
  if (stream->capturing) {
    stream->capturing->invalidated = true;
    std::erase(stream->capturing->streams, stream);
  }
  machine_.schedule.release_lane(stream->lane);
  delete stream;
  return Outcome::kSuccess;
}

std::vector<Machine::Place> ProcessGpu::places_before(const Stream& stream) {
  Schedule& schedule = machine_.schedule;
  std::vector<Machine::Place> places = {{stream.lane, schedule.enqueued(stream.lane)}};
  if (!stream.legacy) return places;
  for (const LaneId lane : schedule.busy_lanes(stream.gpu)) {
    if (schedule.order(lane) == LaneOrder::kBlocking) {
      places.push_back({lane, schedule.enqueued(lane)});
    }
  }
  return places;
}

Outcome ProcessGpu::query(Stream* stream) {
  MutexLock lock(machine_.mutex);
  if (const Outcome free = machine_.check_not_capturing(*stream); free != Outcome::kSuccess)
    return free;
  machine_.advance(now_ns());
  for (const Machine::Place& place : places_before(*stream)) {
    if (!machine_.reached(place)) return Outcome::kNotReady;
  }
  return Outcome::kSuccess;
}

Outcome ProcessGpu::synchronize(Stream* stream) {
  const std::int64_t started_ns = now_ns();
  std::vector<Machine::Place> places;
  {
    MutexLock lock(machine_.mutex);
    if (const Outcome free = machine_.check_not_capturing(*stream); free != Outcome::kSuccess)
      return free;
    places = places_before(*stream);
  }
  machine_.wait_for(places, machine_.rule());
  record_wait(cupti::SyncKind::kStream, stream, started_ns);
  return Outcome::kSuccess;
}

Outcome ProcessGpu::synchronize_device() {
  const std::int64_t started_ns = now_ns();
  std::vector<Machine::Place> places;
  {
    MutexLock lock(machine_.mutex);
    if (const Outcome free = machine_.check_unsafe_call(); free != Outcome::kSuccess) return free;
    for (const LaneId lane : machine_.schedule.busy_lanes(index_)) {
      places.push_back({lane, machine_.schedule.enqueued(lane)});
    }
  }
  machine_.wait_for(places, machine_.rule());
  record_wait(cupti::SyncKind::kContext, nullptr, started_ns);
  return Outcome::kSuccess;
}

void ProcessGpu::record_wait(cupti::SyncKind kind, const Stream* stream, std::int64_t started_ns) {
  if (!Recorder::get().records_calls()) return;
  cupti::Synchronization record;
  record.sync_kind = static_cast<std::uint32_t>(kind);
  record.start_ns = static_cast<std::uint64_t>(started_ns);
  record.end_ns = static_cast<std::uint64_t>(now_ns());
  record.correlation_id = current_correlation();
  record.context_id = static_cast<std::uint32_t>(index_) + 1;
  record.stream_id = stream != nullptr ? static_cast<std::uint32_t>(stream->id) : 0;
  Recorder::get().wait_ended(record);
}

void ProcessGpu::wait_for_room(LaneId lane) {
  Machine::Place place;
  {
    MutexLock lock(machine_.mutex);
    if (machine_.schedule.pending(lane) < kPendingMax) return;
    machine_.advance(now_ns());
    if (machine_.schedule.pending(lane) < kPendingMax) return;
    place = {lane, machine_.schedule.enqueued(lane) - kPendingMax + 1};
  }
  machine_.wait_for({&place, 1}, machine_.rule());
}

Outcome ProcessGpu::launch_host_function(Stream* stream, void (*function)(void*), void* argument) {
  if (function == nullptr) return Outcome::kInvalidValue;
  Operation operation;
  operation.engine = Engine::kHostFunction;
  operation.host = {function, argument};
  return submit(stream, operation, nullptr);
}

int priority_of(const Stream* stream) { return stream->priority; }
bool blocks_on_default(const Stream* stream) { return stream->blocks_on_default; }
std::uint64_t id_of(const Stream* stream) { return stream->id; }
Gpu* gpu_of(const Stream* stream) { return gpu_at(stream->gpu); }

}  // namespace unstarve::emulated
