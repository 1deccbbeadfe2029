#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "device/emulated/activity_writer.h"
#include "device/emulated/host_work.h"
#include "device/emulated/memory_account.h"
#include "device/emulated/profile.h"
#include "device/emulated/stream_timeline.h"
#include "device/emulated/training_model.h"

namespace unstarve::device::emulated {

/// The streams there are. The numbers are what an activity record shows (7 is CUDA's default one).
enum class Stream : std::uint32_t { kCompute = 7, kUpload = 13, kDownload = 14 };

enum class HostMemory { kPageable, kPinned };
enum class Direction { kHostToDevice, kDeviceToHost };

struct CopyRequest {
  std::int64_t bytes = 0;
  HostMemory host_memory = HostMemory::kPageable;
  Direction direction = Direction::kHostToDevice;
  Stream stream = Stream::kCompute;
};

/// A moment in a stream: everything launched into it before record_event() has ended then.
struct Event {
  std::int64_t ready_ns = INT64_MIN;
};

/// A GPU that computes nothing and takes the time of one: in-order streams, copies, memory. It
/// knows nothing of the data or of who feeds it; the length of a step follows from the profile.
///
///   auto gpu = EmulatedGpu::open(*find_profile("a100"), {}, {clock, work});
///   (*gpu)->launch(model.forward, 64, Stream::kCompute);
///   (*gpu)->synchronize(Stream::kCompute);
///
/// Thread rule: any thread. Waits sleep on the clock (as under cudaDeviceScheduleBlockingSync; the
/// CUDA default would spin a core). Only in the process that opened it, as with CUDA.
class EmulatedGpu {
 public:
  struct Options {
    std::string ring_path;  // where activity records go; empty: nowhere
    std::int32_t index = 0;
  };
  struct Environment {
    Clock& clock;
    HostWork& work;
  };
  static Result<std::unique_ptr<EmulatedGpu>> open(const Profile& profile, const Options& options,
                                                   const Environment& environment);
  EmulatedGpu(Profile profile, const Environment& environment, ActivityWriter writer);

  const Profile& profile() const { return profile_; }

  /// Launches the kernels one after the other; costs launch_host_ns of the caller's CPU for each.
  Status launch(std::span<const KernelLaunch> kernels, double samples, Stream stream);

  /// As cudaMemcpyAsync. Pinned memory: returns at once. Pageable memory to the device: returns
  /// when the driver has staged the bytes. From the device to pageable memory: returns when they
  /// arrived.
  Status copy(const CopyRequest& request);

  /// As cudaStreamSynchronize, cudaDeviceSynchronize.
  Status synchronize(Stream stream);
  Status synchronize_device();

  Event record_event(Stream stream);
  /// Work launched into `stream` from now on starts after the event.
  void wait_event(Stream stream, Event event);

  /// As cudaMalloc; kOutOfMemory when the device is full. Freed with the last copy of the handle.
  Result<std::shared_ptr<DeviceMemory>> allocate(std::int64_t bytes);
  std::int64_t memory_used_bytes() const { return memory_->used_bytes(); }

  std::int64_t now_ns() const { return clock_.now_ns(); }

 private:
  struct Call;
  Status check_process() const;
  StreamTimeline& timeline(Stream stream) UNSTARVE_REQUIRES(mutex_);
  std::uint32_t next_correlation() UNSTARVE_REQUIRES(mutex_) { return ++correlation_; }
  std::int64_t wait_for_room(Stream stream);
  void launch_one(const KernelLaunch& kernel, double samples, Stream stream);
  std::uint32_t enqueue_copy(const CopyRequest& request, const StreamTimeline::Slot& slot)
      UNSTARVE_REQUIRES(mutex_);
  void upload_pageable(const CopyRequest& request);
  void copy_through_stream(const CopyRequest& request);
  void write_call(const Call& call) UNSTARVE_REQUIRES(mutex_);
  Status wait_for(const Call& call, std::int64_t until_ns);

  const Profile profile_;
  Clock& clock_;
  HostWork& work_;
  const std::int64_t process_id_;
  std::shared_ptr<MemoryAccount> memory_;

  mutable Mutex mutex_;
  ActivityWriter writer_ UNSTARVE_GUARDED_BY(mutex_);
  std::array<StreamTimeline, 3> streams_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint32_t correlation_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::device::emulated
