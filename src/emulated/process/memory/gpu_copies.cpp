#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "emulated/process/memory/staging.h"
#include "emulated/process/process_gpu.h"
#include "emulated/process/waiting.h"

// Copies and fills. What is copied to the device is zeros there, but for a few bytes
// (engine/kept_bytes.h); what the host gets is written for real, and so is what the driver would
// stage.
namespace unstarve::emulated {

namespace {

// Up to here the driver puts pageable bytes into the command buffer itself, and the call returns
// before the device has taken them.
constexpr std::size_t kInlineBytesMax = 64 << 10;
// Copies to the host that loops wait for are counted: they may wait for ever.
constexpr std::size_t kSmallReadBytesMax = 16;
// More of pinned memory than this is written by a thread of our own, as the DMA engine does.
constexpr std::size_t kWrittenAtOnceMax = 256 << 10;

std::uint8_t cupti_memory(const Allocation& allocation) {
  switch (allocation.place) {
    case MemoryPlace::kUnregistered: return static_cast<std::uint8_t>(cupti::MemoryKind::kPageable);
    case MemoryPlace::kPinnedHost: return static_cast<std::uint8_t>(cupti::MemoryKind::kPinned);
    case MemoryPlace::kDevice: return static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
    case MemoryPlace::kManaged: return static_cast<std::uint8_t>(cupti::MemoryKind::kManaged);
  }
  return 0;
}

bool inside(const Allocation& allocation, const void* address, std::size_t pitch,
            const Copy2d& copy) {
  if (allocation.place == MemoryPlace::kUnregistered) return true;
  const std::size_t from = reinterpret_cast<std::uintptr_t>(address) - allocation.base;
  const std::size_t bytes = (copy.height - 1) * pitch + copy.width_bytes;
  return from <= allocation.bytes && bytes <= allocation.bytes - from;
}

std::int64_t ns_at(double bytes, double bytes_per_s) {
  return bytes_per_s > 0 ? std::llround(bytes / bytes_per_s * 1e9) : 0;
}

}  // namespace

/// A copy with what is known of both ends.
struct ProcessGpu::CopyPlan {
  const Copy2d& copy;
  Allocation source;
  Allocation target;
  CopyKind kind = CopyKind::kHostToHost;
  std::size_t bytes = 0;
  bool pageable = false;  // the host's end of it
};

ProcessGpu::CopyPlan ProcessGpu::plan(const Copy2d& copy) const {
  CopyPlan plan{.copy = copy,
                .source = machine_.memory.find(copy.source),
                .target = machine_.memory.find(copy.target),
                .bytes = copy.width_bytes * copy.height};
  const bool from_device = on_device(plan.source);
  const bool to_device = on_device(plan.target);
  plan.kind = from_device ? (to_device ? CopyKind::kDeviceToDevice : CopyKind::kDeviceToHost)
                          : (to_device ? CopyKind::kHostToDevice : CopyKind::kHostToHost);
  const Allocation& host = from_device ? plan.target : plan.source;
  plan.pageable = host.place == MemoryPlace::kUnregistered;
  return plan;
}

Operation ProcessGpu::operation_of(const CopyPlan& plan) const {
  const Profile& gpu = profile();
  const auto bytes = static_cast<double>(plan.bytes);
  Operation operation;
  Activity& activity = operation.activity;
  activity.kind = Activity::Kind::kCopy;
  activity.bytes = plan.bytes;
  activity.source_memory = cupti_memory(plan.source);
  activity.target_memory = cupti_memory(plan.target);
  activity.asynchronous = !plan.copy.waits;
  auto copy_kind = cupti::CopyKind::kHostToDevice;
  if (plan.kind == CopyKind::kDeviceToDevice && plan.source.gpu != plan.target.gpu) {
    copy_kind = cupti::CopyKind::kPeerToPeer;
    operation.engine = Engine::kCopyToPeer;
    operation.duration_ns = gpu.link_latency_ns + ns_at(bytes, gpu.link_bytes_per_s);
  } else if (plan.kind == CopyKind::kDeviceToDevice) {
    copy_kind = cupti::CopyKind::kDeviceToDevice;
    operation.engine = Engine::kCompute;
    operation.gap_ns = gpu.kernel_gap_ns;
    operation.duration_ns = gpu.kernel_fixed_ns + ns_at(2 * bytes, gpu.peak.memory_bytes_per_s *
                                                                       gpu.achieved.memory_ratio);
  } else {
    const bool up = plan.kind == CopyKind::kHostToDevice;
    copy_kind = up ? cupti::CopyKind::kHostToDevice : cupti::CopyKind::kDeviceToHost;
    operation.engine = up ? Engine::kCopyToDevice : Engine::kCopyToHost;
    operation.duration_ns =
        gpu.copy_latency_ns +
        ns_at(bytes, plan.pageable ? gpu.pageable_bytes_per_s : gpu.pinned_bytes_per_s);
  }
  activity.copy_kind = static_cast<std::uint8_t>(copy_kind);
  return operation;
}

Outcome ProcessGpu::copy(Stream* stream, const Copy2d& copy) {
  use();
  if (copy.width_bytes == 0 || copy.height == 0) return Outcome::kSuccess;
  if (copy.target == nullptr || copy.source == nullptr) return Outcome::kInvalidValue;
  Copy2d request = copy;
  if (request.height == 1) request.target_pitch = request.source_pitch = request.width_bytes;
  if (request.target_pitch < request.width_bytes || request.source_pitch < request.width_bytes) {
    return Outcome::kInvalidValue;
  }
  const CopyPlan planned = plan(request);
  if (!inside(planned.source, request.source, request.source_pitch, request) ||
      !inside(planned.target, request.target, request.target_pitch, request)) {
    return Outcome::kInvalidValue;
  }
  {
    MutexLock lock(machine_.mutex);
    if (stream->capturing && request.waits) return machine_.check_not_capturing(*stream);
    if (stream->capturing) return capture_copy(*stream, planned);
    if (request.waits) {
      if (const Outcome free = machine_.check_unsafe_call(); free != Outcome::kSuccess) return free;
    }
  }
  if (planned.kind == CopyKind::kHostToHost) return copy_on_host(stream, planned);
  if (planned.pageable && planned.kind == CopyKind::kHostToDevice) {
    return copy_staged_to_device(stream, planned);
  }
  if (planned.pageable && planned.kind == CopyKind::kDeviceToHost) {
    return copy_staged_to_host(stream, planned);
  }
  return copy_direct(stream, planned);
}

Outcome ProcessGpu::capture_copy(Stream& stream, const CopyPlan& plan) {
  Operation operation = operation_of(plan);
  const DataEffect effect{.kind = DataEffect::Kind::kCopy, .gpu = index_, .copy = plan.copy};
  add_to_capture(stream, std::move(operation), &effect);
  return Outcome::kSuccess;
}

/// Between places of the host the driver copies by itself, when the stream has come there.
Outcome ProcessGpu::copy_on_host(Stream* stream, const CopyPlan& plan) {
  if (const Outcome waited = synchronize(stream); waited != Outcome::kSuccess) return waited;
  const Copy2d& copy = plan.copy;
  for (std::size_t row = 0; row < copy.height; ++row) {
    std::memmove(static_cast<char*>(copy.target) + row * copy.target_pitch,
                 static_cast<const char*>(copy.source) + row * copy.source_pitch, copy.width_bytes);
  }
  return Outcome::kSuccess;
}

namespace {

struct Write {
  ProcessMemory& memory;
  const DataEffect effect;
  const std::shared_ptr<Landing> landing;
};

/// "True", to a question that the job asks of the device again and again.
class TrueLanding final : public Landing {
 public:
  explicit TrueLanding(void* target) : target_(target) {}
  void land() override { *static_cast<unsigned char*>(target_) = 1; }

 private:
  void* const target_;
};

void write_and_forget(void* argument) {
  const std::unique_ptr<Write> write(static_cast<Write*>(argument));
  write->memory.apply(write->effect);
  if (write->landing) write->landing->land();
}

}  // namespace

/// The DMA engine writes while the host goes on: a thread of ours does it, beside the copy in the
/// stream, which ends when both have.
Outcome ProcessGpu::copy_large_to_host(Stream* stream, const CopyPlan& plan) {
  {
    MutexLock lock(machine_.mutex);
    const std::uint64_t before = machine_.schedule.enqueued(stream->lane);
    machine_.schedule.wait(writer_.lane, {.lane = stream->lane, .position = before});
  }
  auto write = std::make_unique<Write>(
      Write{machine_.memory,
            {.kind = DataEffect::Kind::kCopy, .gpu = index_, .copy = plan.copy},
            machine_.memory.landing_of(plan.copy)});
  Outcome outcome = launch_host_function(&writer_, write_and_forget, write.get());
  if (outcome != Outcome::kSuccess) return outcome;
  static_cast<void>(write.release());  // the function's
  outcome = submit(stream, operation_of(plan), nullptr);
  MutexLock lock(machine_.mutex);
  const std::uint64_t written = machine_.schedule.enqueued(writer_.lane);
  machine_.schedule.wait(stream->lane, {.lane = writer_.lane, .position = written});
  return outcome;
}

/// Pinned memory, and copies on the device: the call returns at once, but for one that waits.
Outcome ProcessGpu::copy_direct(Stream* stream, const CopyPlan& plan) {
  Operation operation = operation_of(plan);
  const bool to_host = plan.kind == CopyKind::kDeviceToHost;
  if (to_host && plan.bytes > kWrittenAtOnceMax) {
    const Outcome outcome = copy_large_to_host(stream, plan);
    return outcome == Outcome::kSuccess && plan.copy.waits ? synchronize(stream) : outcome;
  }
  if (to_host) note_read(plan);
  const DataEffect effect{.kind = DataEffect::Kind::kCopy, .gpu = index_, .copy = plan.copy};
  if (to_host) operation.landing = landing_of(plan);
  const Outcome outcome = submit(stream, operation, &effect);
  // Within the device a copy never holds up the host.
  const bool waits = plan.copy.waits && plan.kind != CopyKind::kDeviceToDevice;
  return outcome == Outcome::kSuccess && waits ? synchronize(stream) : outcome;
}

void ProcessGpu::note_read(const CopyPlan& plan) {
  if (plan.bytes > kSmallReadBytesMax || machine_.memory.landing_of(plan.copy)) return;
  shared_->totals().small_reads.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<Landing> ProcessGpu::landing_of(const CopyPlan& plan) {
  std::shared_ptr<Landing> kept = machine_.memory.landing_of(plan.copy);
  const std::int64_t every = machine_.settings().true_every;
  if (kept || every == 0 || plan.bytes != 1) return kept;
  const std::int64_t asked = answers_.fetch_add(1, std::memory_order_relaxed) + 1;
  return asked % every == 0 ? std::make_shared<TrueLanding>(plan.copy.target) : nullptr;
}

/// The calling thread copies the bytes, piece by piece, into buffers that the device reads.
Outcome ProcessGpu::copy_staged_to_device(Stream* stream, const CopyPlan& plan) {
  Operation operation = operation_of(plan);
  const DataEffect effect{.kind = DataEffect::Kind::kCopy, .gpu = index_, .copy = plan.copy};
  Staging staging;
  if (plan.bytes <= kInlineBytesMax) {
    staging.read(plan.copy, 0, plan.bytes);
    return submit(stream, operation, &effect);
  }
  // With more than that the driver waits until the stream has come to the copy.
  if (const Outcome waited = synchronize(stream); waited != Outcome::kSuccess) return waited;
  const std::int64_t latency_ns = profile().copy_latency_ns;
  const std::int64_t all_ns = operation.duration_ns - latency_ns;
  const Activity activity = operation.activity;
  operation.activity.kind = Activity::Kind::kNone;
  std::size_t done = 0;
  while (done < plan.bytes) {
    const std::size_t piece = std::min(Staging::kBufferBytes, plan.bytes - done);
    staging.read(plan.copy, done, piece);
    operation.duration_ns = std::llround(static_cast<double>(all_ns) * static_cast<double>(piece) /
                                         static_cast<double>(plan.bytes));
    if (done == 0) operation.duration_ns += latency_ns;
    operation.continues = done > 0;
    done += piece;
    if (done == plan.bytes) operation.activity = activity;
    const Outcome outcome = submit(stream, operation, done == plan.bytes ? &effect : nullptr);
    if (outcome != Outcome::kSuccess) return outcome;
    staging.wait_for_buffer(machine_, stream->lane);
  }
  return Outcome::kSuccess;
}

/// The device writes into buffers of the driver's, and the calling thread copies them out.
Outcome ProcessGpu::copy_staged_to_host(Stream* stream, const CopyPlan& plan) {
  note_read(plan);
  Operation operation = operation_of(plan);
  operation.landing = landing_of(plan);
  const std::shared_ptr<Landing> landing = operation.landing;
  if (plan.bytes <= Staging::kBufferBytes) {
    const Outcome outcome = submit(stream, operation, nullptr);
    if (outcome != Outcome::kSuccess) return outcome;
    if (const Outcome waited = synchronize(stream); waited != Outcome::kSuccess) return waited;
    Staging staging;
    staging.write(plan.copy, 0, plan.bytes);
  } else {
    if (const Outcome waited = synchronize(stream); waited != Outcome::kSuccess) return waited;
    if (const Outcome out = submit(stream, operation, nullptr); out != Outcome::kSuccess)
      return out;
    Staging staging;
    for (std::size_t done = 0; done < plan.bytes; done += Staging::kBufferBytes) {
      staging.write(plan.copy, done, std::min(Staging::kBufferBytes, plan.bytes - done));
    }
    if (const Outcome waited = synchronize(stream); waited != Outcome::kSuccess) return waited;
  }
  if (landing) landing->land();
  return Outcome::kSuccess;
}

Outcome ProcessGpu::fill(Stream* stream, void* target, int value, std::size_t bytes, bool waits) {
  use();
  if (bytes == 0) return Outcome::kSuccess;
  const Allocation allocation = machine_.memory.find(target);
  const Copy2d copy{.target = target,
                    .target_pitch = bytes,
                    .source = nullptr,
                    .source_pitch = 0,
                    .width_bytes = bytes,
                    .height = 1,
                    .waits = waits};
  if (allocation.place == MemoryPlace::kUnregistered || !inside(allocation, target, bytes, copy)) {
    return Outcome::kInvalidValue;
  }
  Operation operation;
  operation.engine = Engine::kCompute;
  operation.gap_ns = profile().kernel_gap_ns;
  operation.duration_ns = profile().kernel_fixed_ns +
                          ns_at(static_cast<double>(bytes), profile().peak.memory_bytes_per_s *
                                                                profile().achieved.memory_ratio);
  operation.activity.kind = Activity::Kind::kFill;
  operation.activity.value = static_cast<std::uint32_t>(value);
  operation.activity.bytes = bytes;
  operation.activity.target_memory = cupti_memory(allocation);
  operation.activity.asynchronous = !waits;
  const DataEffect effect{
      .kind = DataEffect::Kind::kFill, .gpu = index_, .copy = copy, .value = value};
  const Outcome outcome = submit(stream, operation, &effect);
  const bool on_host = allocation.place == MemoryPlace::kPinnedHost;
  return outcome == Outcome::kSuccess && waits && on_host ? synchronize(stream) : outcome;
}

}  // namespace unstarve::emulated
