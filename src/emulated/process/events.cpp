#include <algorithm>

#include "base/cupti_records.h"
#include "emulated/process/process_gpu.h"
#include "emulated/process/records/recorder_state.h"

// Events.
namespace unstarve::emulated {

Outcome create_event(bool timing, bool blocking_sync, Event** out) {
  Gpu* gpu = current_gpu();
  if (gpu == nullptr) return usable();
  auto* event = new Event;
  event->gpu = gpu->index();
  event->timing = timing;
  event->blocking_sync = blocking_sync;
  Machine* machine = Machine::existing();
  MutexLock lock(machine->mutex);
  machine->events.insert(event);
  *out = event;
  return Outcome::kSuccess;
}

Event* find_event(const void* handle) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return nullptr;
  MutexLock lock(machine->mutex);
  const auto found = machine->events.find(handle);
  if (found == machine->events.end()) return nullptr;
  return const_cast<Event*>(static_cast<const Event*>(handle));
}

Outcome destroy_event(Event* event) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  MutexLock lock(machine->mutex);
  if (machine->events.erase(event) == 0) return Outcome::kInvalidHandle;
  delete event;
  return Outcome::kSuccess;
}

Outcome record_event(Event* event, Stream* stream) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  if (event->gpu != stream->gpu) return Outcome::kInvalidHandle;
  ProcessGpu* gpu = machine->gpu(stream->gpu);
  gpu->use();
  gpu->wait_for_room(stream->lane);
  MutexLock lock(machine->mutex);
  if (stream->capturing) {
    if (stream->capturing->invalidated) return Outcome::kCaptureInvalidated;
    event->capturing = stream->capturing;
    event->place = stream->capturing->nodes.place(stream->capture_lane);
    event->mark.reset();
    return Outcome::kSuccess;
  }
  if (const Outcome free = machine->check_default(*stream); free != Outcome::kSuccess) return free;
  event->capturing.reset();
  event->mark =
      machine->schedule.mark(stream->lane, now_ns() + machine->profile().launch_latency_ns);
  return Outcome::kSuccess;
}

namespace {

/// A stream that takes part in a capture from now on, behind what the event stands for.
Outcome wait_in_capture(Stream& stream, const Event& event) {
  Capturing& capturing = *event.capturing;
  if (capturing.ended || capturing.invalidated) return Outcome::kCaptureInvalidated;
  if (stream.legacy) return Outcome::kCaptureImplicit;
  if (!stream.capturing) {
    stream.capturing = event.capturing;
    stream.capture_lane = capturing.nodes.add_lane(stream.gpu);
    capturing.streams.push_back(&stream);
  } else if (stream.capturing != event.capturing) {
    stream.capturing->invalidated = true;
    capturing.invalidated = true;
    return Outcome::kCaptureMerge;
  }
  capturing.nodes.wait(stream.capture_lane, event.place);
  return Outcome::kSuccess;
}

}  // namespace

Outcome ProcessGpu::wait_event(Stream* stream, Event* event) {
  use();
  MutexLock lock(machine_.mutex);
  if (event->capturing) return wait_in_capture(*stream, *event);
  if (!event->mark) return Outcome::kSuccess;
  if (stream->capturing) {
    // It would depend on work outside the graph.
    stream->capturing->invalidated = true;
    return Outcome::kCaptureIsolation;
  }
  machine_.advance(now_ns());
  machine_.schedule.wait(stream->lane, *event->mark);
  return Outcome::kSuccess;
}

Outcome query_event(Event* event) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  MutexLock lock(machine->mutex);
  if (event->capturing) return Outcome::kCapturedEvent;
  if (const Outcome free = machine->check_unsafe_call(); free != Outcome::kSuccess) return free;
  if (!event->mark) return Outcome::kSuccess;
  if (event->mark->done_ns < 0) machine->advance(now_ns());
  return event->mark->done_ns >= 0 ? Outcome::kSuccess : Outcome::kNotReady;
}

Outcome synchronize_event(Event* event) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  const std::int64_t started_ns = now_ns();
  std::shared_ptr<Mark> mark;
  {
    MutexLock lock(machine->mutex);
    if (event->capturing) return Outcome::kCapturedEvent;
    if (const Outcome free = machine->check_unsafe_call(); free != Outcome::kSuccess) return free;
    mark = event->mark;
  }
  if (mark) {
    const Machine::Place place{mark->lane, mark->position};
    machine->wait_for({&place, 1}, event->blocking_sync ? WaitRule::kBlock : machine->rule());
  }
  machine->gpu(event->gpu)->record_wait(cupti::SyncKind::kEvent, nullptr, started_ns);
  return Outcome::kSuccess;
}

Outcome elapsed_ms(Event* start, Event* end, float* ms) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  MutexLock lock(machine->mutex);
  if (start->capturing || end->capturing) return Outcome::kCapturedEvent;
  if (!start->timing || !end->timing || !start->mark || !end->mark || start->gpu != end->gpu) {
    return Outcome::kInvalidHandle;
  }
  machine->advance(now_ns());
  if (start->mark->done_ns < 0 || end->mark->done_ns < 0) return Outcome::kNotReady;
  *ms = static_cast<float>(static_cast<double>(end->mark->done_ns - start->mark->done_ns) / 1e6);
  return Outcome::kSuccess;
}

void flush_records() {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return;
  MutexLock lock(machine->mutex);
  machine->advance(now_ns());
}

}  // namespace unstarve::emulated
