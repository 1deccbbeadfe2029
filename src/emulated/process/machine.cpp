#include "emulated/process/machine.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "emulated/process/process_gpu.h"
#include "emulated/process/records/injection.h"
#include "emulated/process/records/recorder_state.h"
#include "emulated/process/waiting.h"

namespace unstarve::emulated {

namespace {

/// Made once, at the first use. `forked`: this process is the child of one that had used CUDA, and
/// shares nothing with its parent's devices; locks may be held by threads that are not here.
struct Made {
  std::once_flag once;
  std::atomic<Machine*> machine{nullptr};
  std::atomic<Outcome> why{Outcome::kSuccess};
  std::atomic<bool> tried{false};
  std::atomic<bool> forked{false};
};

Made& made() {
  static auto* all = new Made;
  return *all;
}

std::atomic<WaitRule> g_rule{WaitRule::kAuto};
/// The process ends: what ended by now gets into the records, and the memory is free for others.
void end_process() {
  Machine* machine = Machine::existing();
  if (machine != nullptr) machine->leave();
}

// How often the other processes of a device are looked for.
constexpr std::int64_t kOthersEveryNs = 200'000;
constexpr std::int64_t kLongestLookAwayNs = 2'000'000;

/// What cannot be read is as good as not there: who prepared the settings has read it already.
std::shared_ptr<const DurationTable> read_table(const std::string& path) {
  if (path.empty()) return nullptr;
  const Result<std::shared_ptr<const DurationTable>> table = DurationTable::read(path);
  return table ? *table : nullptr;
}

}  // namespace

int thread_id() {
  static thread_local const auto id = static_cast<int>(::syscall(SYS_gettid));
  return id;
}

Machine::Machine(Settings settings)
    : schedule(static_cast<int>(settings.visible.size())),
      memory(static_cast<int>(settings.visible.size())),
      completion(*this),
      settings_(std::move(settings)),
      durations_(DurationModel::create(settings_.profile, read_table(settings_.durations),
                                       settings_.scale)),
      prices_(settings_.profile, settings_.priced, settings_.scale) {
  // A rank of several, by the variable that torch's launchers set: it fills its first message
  // before NCCL hears of it.
  if (std::getenv("MASTER_ADDR") != nullptr) memory.keep_more(KeptBytes::kOfTalkers);
  for (std::size_t i = 0; i < settings_.visible.size(); ++i) {
    gpus_.push_back(std::make_unique<ProcessGpu>(*this, static_cast<int>(i), settings_.visible[i]));
  }
}

Machine* Machine::make() {
  Result<Settings> settings = read_settings();
  if (!settings || settings->visible.empty()) {
    made().why.store(Outcome::kNoDevice);
    return nullptr;
  }
  return new Machine(std::move(*settings));
}

Machine* Machine::get() {
  Made& all = made();
  if (all.forked.load(std::memory_order_acquire)) return nullptr;
  if (!all.tried.load(std::memory_order_acquire)) {
    std::call_once(all.once, [&all] {
      ::pthread_atfork(nullptr, nullptr, [] {
        if (made().tried.load()) made().forked.store(true);
      });
      std::atexit(end_process);
      Machine* machine = nullptr;
      try {
        machine = make();
      } catch (...) {
        all.why.store(Outcome::kOutOfMemory);
      }
      all.machine.store(machine);
      all.tried.store(true, std::memory_order_release);
    });
    if (all.machine.load() != nullptr) load_injection();
  }
  return all.machine.load(std::memory_order_relaxed);
}

Machine* Machine::existing() {
  const Made& all = made();
  if (!all.tried.load(std::memory_order_acquire) || all.forked.load()) return nullptr;
  return all.machine.load(std::memory_order_relaxed);
}

Outcome Machine::state() {
  if (get() != nullptr) return Outcome::kSuccess;
  return made().forked.load() ? Outcome::kNotInitialized : made().why.load();
}

ProcessGpu* Machine::gpu(int index) { return gpus_[static_cast<std::size_t>(index)].get(); }

WaitRule Machine::rule() const { return rule_for(g_rule.load(), contexts_.load()); }

void Machine::name_lane(LaneId lane, std::uint64_t stream_id) {
  if (lane_streams_.size() <= lane) lane_streams_.resize(lane + 1);
  lane_streams_[lane] = stream_id;
}

void Machine::wait_for(std::span<const Place> places, WaitRule rule) {
  const std::int64_t started_ns = now_ns();
  std::int64_t seen_ns = started_ns;
  for (const Place& place : places) {
    for (;;) {
      std::int64_t until_ns = 0;
      {
        MutexLock lock(mutex);
        seen_ns = now_ns();
        advance(seen_ns);
        if (reached(place)) break;
        until_ns = schedule.earliest_end_ns(place.lane, place.position);
      }
      // Other processes may begin to use the device, or end.
      until_ns = std::min(until_ns, seen_ns + kLongestLookAwayNs);
      pass_time(until_ns, rule);
    }
  }
  if (seen_ns > started_ns) note_waited(seen_ns - started_ns);
}

void Machine::advance(std::int64_t now) {
  if (now - others_seen_ns_ > kOthersEveryNs) {
    others_seen_ns_ = now;
    for (const auto& gpu : gpus_) {
      if (gpu->has_context()) {
        schedule.set_others(gpu->index(), gpu->shared().others_busy(now));
        publish_busy(*gpu, now);
      }
    }
  }
  schedule.advance(now);
  if (!schedule.ended().empty()) hand_out_ended();
  if (schedule.has_due()) completion.wake();
}

void Machine::publish_busy(ProcessGpu& gpu, std::int64_t now) {
  std::int64_t until_ns = now;
  for (const LaneId lane : schedule.busy_lanes(gpu.index())) {
    until_ns = std::max(until_ns, schedule.earliest_end_ns(lane, schedule.enqueued(lane)));
  }
  gpu.shared().use().busy_until_ns.store(until_ns, std::memory_order_relaxed);
}

std::int64_t Machine::look() {
  MutexLock lock(mutex);
  advance(now_ns());
  return schedule.next_change_ns();
}

void Machine::leave() {
  {
    MutexLock lock(mutex);
    advance(now_ns());
  }
  for (const auto& gpu : gpus_) {
    if (gpu->has_context()) gpu->shared().leave();
  }
}

void Machine::hand_out_ended() {
  Recorder& recorder = Recorder::get();
  for (const Ended& ended : schedule.ended()) {
    ProcessGpu& owner = *gpu(ended.device);
    owner.count(ended);
    if (recorder.records()) {
      recorder.operation_ended(ended, lane_streams_[ended.lane], owner.machine_index());
    }
  }
  schedule.clear_ended();
}

Outcome Machine::check_unsafe_call() {
  const int own_mode = capture_mode_of_thread();
  Outcome outcome = Outcome::kSuccess;
  for (const auto& capturing : captures) {
    const bool ours = capturing->thread == thread_id();
    // cudaStreamCaptureMode: 0 global, 1 thread local, 2 relaxed.
    const bool forbids = own_mode == 0   ? capturing->mode == 0 || (ours && capturing->mode == 1)
                         : own_mode == 1 ? ours && capturing->mode != 2
                                         : false;
    if (!forbids) continue;
    capturing->invalidated = true;
    outcome = Outcome::kCaptureUnsupported;
  }
  return outcome;
}

Outcome Machine::check_not_capturing(const Stream& stream) {
  if (stream.capturing) {
    stream.capturing->invalidated = true;
    return Outcome::kCaptureUnsupported;
  }
  return check_default(stream);
}

Outcome Machine::check_default(const Stream& stream) {
  if (!stream.legacy) return Outcome::kSuccess;
  for (const auto& capturing : captures) {
    for (const Stream* other : capturing->streams) {
      if (other->gpu != stream.gpu || !other->blocks_on_default) continue;
      capturing->invalidated = true;
      return Outcome::kCaptureImplicit;
    }
  }
  return Outcome::kSuccess;
}

// ---- what belongs to no one GPU

namespace {
thread_local int t_current_gpu = 0;
thread_local int t_capture_mode = 0;
}  // namespace

int capture_mode_of_thread() { return t_capture_mode; }

int exchange_capture_mode(int mode) { return std::exchange(t_capture_mode, mode); }

int gpu_count() {
  const Machine* machine = Machine::get();
  return machine != nullptr ? machine->gpus() : 0;
}

Outcome usable() { return Machine::state(); }

Gpu* gpu_at(int index) {
  Machine* machine = Machine::get();
  if (machine == nullptr || index < 0 || index >= machine->gpus()) return nullptr;
  return machine->gpu(index);
}

Gpu* current_gpu() { return gpu_at(t_current_gpu); }

Outcome set_current_gpu(int index) {
  const Machine* machine = Machine::get();
  if (machine == nullptr) return usable();
  if (index < 0 || index >= machine->gpus()) return Outcome::kInvalidDevice;
  t_current_gpu = index;
  return Outcome::kSuccess;
}

void set_wait_rule(WaitRule rule) { g_rule.store(rule); }
WaitRule wait_rule() { return g_rule.load(); }

}  // namespace unstarve::emulated
