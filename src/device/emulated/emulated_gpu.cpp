#include "device/emulated/emulated_gpu.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace unstarve::device::emulated {

namespace {

constexpr std::uint32_t kContextId = 1;
// Up to here the driver puts pageable bytes into the command buffer itself; the copy then starts
// only after the call has taken them.
constexpr std::int64_t kInlineCopyBytesMax = 64 * 1024;

std::int64_t duration_ns(std::int64_t bytes, double bytes_per_s) {
  return std::llround(1e9 * static_cast<double>(bytes) / bytes_per_s);
}

std::uint64_t unsigned_ns(std::int64_t ns) { return static_cast<std::uint64_t>(ns); }

cupti::Memcpy to_record(const CopyRequest& request, const StreamTimeline::Slot& slot) {
  const bool upload = request.direction == Direction::kHostToDevice;
  const auto host = static_cast<std::uint8_t>(request.host_memory == HostMemory::kPinned
                                                  ? cupti::MemoryKind::kPinned
                                                  : cupti::MemoryKind::kPageable);
  const auto device = static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
  cupti::Memcpy record;
  record.copy_kind = static_cast<std::uint8_t>(upload ? cupti::CopyKind::kHostToDevice
                                                      : cupti::CopyKind::kDeviceToHost);
  record.source_kind = upload ? host : device;
  record.target_kind = upload ? device : host;
  record.flags = 1;
  record.bytes = static_cast<std::uint64_t>(request.bytes);
  record.start_ns = unsigned_ns(slot.start_ns);
  record.end_ns = unsigned_ns(slot.end_ns);
  record.context_id = kContextId;
  record.stream_id = static_cast<std::uint32_t>(request.stream);
  return record;
}

}  // namespace

struct EmulatedGpu::Call {
  cupti::RuntimeCall call = cupti::RuntimeCall::kCudaLaunchKernel;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  cupti::SyncKind sync = cupti::SyncKind::kUnknown;  // of a call that waits
  Stream stream = Stream::kCompute;
};

Result<std::unique_ptr<EmulatedGpu>> EmulatedGpu::open(const Profile& profile,
                                                       const Options& options,
                                                       const Environment& environment) {
  Result<ActivityWriter> writer =
      ActivityWriter::create(profile, {.path = options.ring_path,
                                       .device_index = options.index,
                                       .now_ns = environment.clock.now_ns()});
  if (!writer) return forward_error(writer);
  return std::make_unique<EmulatedGpu>(profile, environment, std::move(*writer));
}

EmulatedGpu::EmulatedGpu(Profile profile, const Environment& environment, ActivityWriter writer)
    : profile_(std::move(profile)),
      clock_(environment.clock),
      work_(environment.work),
      process_id_(::getpid()),
      memory_(std::make_shared<MemoryAccount>(profile_.total_memory_bytes)),
      writer_(std::move(writer)) {}

Status EmulatedGpu::check_process() const {
  if (::getpid() == process_id_) return {};
  return fail(ErrorCode::kNotSupported,
              "the {} was opened by process {} and cannot be used in its fork {}; as with CUDA, "
              "open the device in the process that uses it",
              profile_.device_name, process_id_, ::getpid());
}

StreamTimeline& EmulatedGpu::timeline(Stream stream) {
  switch (stream) {
    case Stream::kCompute: return streams_[0];
    case Stream::kUpload: return streams_[1];
    case Stream::kDownload: break;
  }
  return streams_[2];
}

std::int64_t EmulatedGpu::wait_for_room(Stream stream) {
  std::int64_t room_at_ns = 0;
  {
    MutexLock lock(mutex_);
    room_at_ns = timeline(stream).room_at_ns();
  }
  if (room_at_ns > clock_.now_ns()) clock_.sleep_until_ns(room_at_ns);
  return clock_.now_ns();
}

void EmulatedGpu::write_call(const Call& call) {
  if (!writer_.records()) return;
  cupti::ApiCall record;
  record.call = static_cast<std::uint32_t>(call.call);
  record.start_ns = unsigned_ns(call.start_ns);
  record.end_ns = unsigned_ns(call.end_ns);
  record.process_id = static_cast<std::uint32_t>(process_id_);
  record.thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  record.correlation_id = call.correlation;
  writer_.write(record);
  if (call.sync == cupti::SyncKind::kUnknown) return;
  cupti::Synchronization wait;
  wait.sync_kind = static_cast<std::uint32_t>(call.sync);
  wait.start_ns = record.start_ns;
  wait.end_ns = record.end_ns;
  wait.correlation_id = call.correlation;
  wait.context_id = kContextId;
  wait.stream_id = static_cast<std::uint32_t>(call.stream);
  writer_.write(wait);
}

Status EmulatedGpu::launch(std::span<const KernelLaunch> kernels, double samples, Stream stream) {
  if (Status ours = check_process(); !ours) return ours;
  for (const KernelLaunch& kernel : kernels) launch_one(kernel, samples, stream);
  return {};
}

void EmulatedGpu::launch_one(const KernelLaunch& kernel, double samples, Stream stream) {
  Call call{
      .call = cupti::RuntimeCall::kCudaLaunchKernel, .start_ns = clock_.now_ns(), .stream = stream};
  wait_for_room(stream);
  work_.spend_ns(profile_.launch_host_ns);
  call.end_ns = clock_.now_ns();

  MutexLock lock(mutex_);
  const StreamTimeline::Slot slot = timeline(stream).enqueue(
      call.end_ns + profile_.launch_latency_ns, kernel.duration_ns(samples));
  call.correlation = next_correlation();
  write_call(call);
  cupti::Kernel record;
  record.start_ns = unsigned_ns(slot.start_ns);
  record.end_ns = unsigned_ns(slot.end_ns);
  record.completed_ns = record.end_ns;
  record.context_id = kContextId;
  record.stream_id = static_cast<std::uint32_t>(stream);
  record.grid[0] = static_cast<std::int32_t>(kernel.grid_per_sample * std::max(1.0, samples));
  record.grid[1] = record.grid[2] = 1;
  record.block[0] = 256;
  record.block[1] = record.block[2] = 1;
  record.correlation_id = call.correlation;
  record.grid_id = call.correlation;
  record.name = static_cast<std::uint64_t>(kernel.id);
  record.submitted_ns = unsigned_ns(call.end_ns);
  writer_.write(record);
}

Status EmulatedGpu::copy(const CopyRequest& request) {
  if (Status ours = check_process(); !ours) return ours;
  if (request.bytes < 0) {
    return fail(ErrorCode::kInvalidArgument, "cannot copy {} bytes", request.bytes);
  }
  const bool staged =
      request.host_memory == HostMemory::kPageable && request.direction == Direction::kHostToDevice;
  if (staged) {
    upload_pageable(request);
  } else {
    copy_through_stream(request);
  }
  return {};
}

std::uint32_t EmulatedGpu::enqueue_copy(const CopyRequest& request,
                                        const StreamTimeline::Slot& slot) {
  cupti::Memcpy record = to_record(request, slot);
  record.correlation_id = next_correlation();
  record.runtime_correlation_id = record.correlation_id;
  writer_.write(record);
  return record.correlation_id;
}

/// The driver copies the bytes piece by piece into pinned buffers of its own, by the calling
/// thread, and each piece goes over the bus as soon as the stream gets there. The operation
/// therefore lasts at least as long as the staging that is still to come when it starts.
void EmulatedGpu::upload_pageable(const CopyRequest& request) {
  Call call{.call = cupti::RuntimeCall::kCudaMemcpyAsync, .start_ns = clock_.now_ns()};
  wait_for_room(request.stream);
  work_.spend_ns(profile_.launch_host_ns);
  const std::int64_t staging_from_ns = clock_.now_ns();
  work_.spend_ns(duration_ns(request.bytes, profile_.pageable_bytes_per_s));
  call.end_ns = clock_.now_ns();

  const std::int64_t launched_ns =
      request.bytes <= kInlineCopyBytesMax ? call.end_ns : staging_from_ns;
  MutexLock lock(mutex_);
  StreamTimeline& stream = timeline(request.stream);
  const std::int64_t start_ns =
      std::max(stream.tail_ns(), launched_ns + profile_.launch_latency_ns);
  const std::int64_t bus_ns = duration_ns(request.bytes, profile_.pinned_bytes_per_s);
  const std::int64_t end_ns = std::max(start_ns + bus_ns, call.end_ns);
  call.correlation = enqueue_copy(request, stream.enqueue(start_ns, end_ns - start_ns));
  write_call(call);
}

void EmulatedGpu::copy_through_stream(const CopyRequest& request) {
  Call call{.call = cupti::RuntimeCall::kCudaMemcpyAsync,
            .start_ns = clock_.now_ns(),
            .stream = request.stream};
  wait_for_room(request.stream);
  work_.spend_ns(profile_.launch_host_ns);
  call.end_ns = clock_.now_ns();
  StreamTimeline::Slot slot;
  {
    MutexLock lock(mutex_);
    slot = timeline(request.stream)
               .enqueue(call.end_ns + profile_.launch_latency_ns,
                        duration_ns(request.bytes, profile_.pinned_bytes_per_s));
    call.correlation = enqueue_copy(request, slot);
  }
  if (request.host_memory == HostMemory::kPageable) {
    clock_.sleep_until_ns(slot.end_ns);
    work_.spend_ns(duration_ns(request.bytes, profile_.pageable_bytes_per_s));
    call.end_ns = clock_.now_ns();
  }
  MutexLock lock(mutex_);
  write_call(call);
}

Status EmulatedGpu::wait_for(const Call& begun, std::int64_t until_ns) {
  if (until_ns > clock_.now_ns()) clock_.sleep_until_ns(until_ns);
  Call call = begun;
  call.end_ns = clock_.now_ns();
  MutexLock lock(mutex_);
  call.correlation = next_correlation();
  write_call(call);
  return {};
}

Status EmulatedGpu::synchronize(Stream stream) {
  if (Status ours = check_process(); !ours) return ours;
  const std::int64_t start_ns = clock_.now_ns();
  return wait_for({.call = cupti::RuntimeCall::kCudaStreamSynchronize,
                   .start_ns = start_ns,
                   .sync = cupti::SyncKind::kStream,
                   .stream = stream},
                  record_event(stream).ready_ns);
}

Status EmulatedGpu::synchronize_device() {
  if (Status ours = check_process(); !ours) return ours;
  const std::int64_t start_ns = clock_.now_ns();
  std::int64_t until_ns = INT64_MIN;
  {
    MutexLock lock(mutex_);
    for (const StreamTimeline& each : streams_) until_ns = std::max(until_ns, each.tail_ns());
  }
  return wait_for({.call = cupti::RuntimeCall::kCudaDeviceSynchronize,
                   .start_ns = start_ns,
                   .sync = cupti::SyncKind::kContext},
                  until_ns);
}

Event EmulatedGpu::record_event(Stream stream) {
  MutexLock lock(mutex_);
  return {timeline(stream).tail_ns()};
}

void EmulatedGpu::wait_event(Stream stream, Event event) {
  MutexLock lock(mutex_);
  timeline(stream).wait_until(event.ready_ns);
}

Result<std::shared_ptr<DeviceMemory>> EmulatedGpu::allocate(std::int64_t bytes) {
  if (Status ours = check_process(); !ours) return forward_error(ours);
  if (bytes < 0 || !memory_->take(bytes)) {
    return fail(ErrorCode::kOutOfMemory,
                "the {} is out of memory: {} bytes asked for, {} of {} in use; use a smaller batch",
                profile_.device_name, bytes, memory_->used_bytes(), memory_->total_bytes());
  }
  auto memory = std::make_shared<DeviceMemory>(memory_, bytes);
  MutexLock lock(mutex_);
  cupti::EmulatedState state;
  state.time_ns = unsigned_ns(clock_.now_ns());
  state.memory_used_bytes = static_cast<std::uint64_t>(memory_->reserved_bytes());
  writer_.write(state);
  return memory;
}

}  // namespace unstarve::device::emulated
