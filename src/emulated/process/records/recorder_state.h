#pragma once

#include <atomic>
#include <deque>
#include <optional>

#include "base/mutex.h"
#include "emulated/engine/schedule.h"
#include "emulated/process/records/device_ring.h"
#include "emulated/process/records/recorder.h"

namespace unstarve::emulated {

/// Makes records of what ended and of calls, for the rings and for the sink.
/// Thread rule: any thread; it may be called with the machine's lock held and takes none but its
/// own.
class Recorder {
 public:
  /// The process's; never destroyed.
  static Recorder& get();

  /// Somebody wants records.
  bool records() const { return ring_count_.load() > 0 || sink_.load() != nullptr; }
  /// Somebody wants calls.
  bool records_calls() const { return sink_.load() != nullptr; }
  void add_ring(int gpu, DeviceRing ring) UNSTARVE_EXCLUDES(mutex_);

  void operation_ended(const Ended& ended, std::uint64_t stream, int machine_index)
      UNSTARVE_EXCLUDES(mutex_);
  // Calls are the sink's alone: the rings are about the GPUs.
  void call_begins(const CallRecord& call);
  void call_ended(const CallRecord& call);
  void wait_ended(const cupti::Synchronization& wait);
  void memory_changed(int gpu, std::uint64_t used_bytes) UNSTARVE_EXCLUDES(mutex_);

  void set_sink(RecordSink* sink);

 private:
  /// Calls the sink, if there is one, so that set_sink() can wait for it.
  template <class Tell>
  void tell(Tell call);
  DeviceRing* ring(int gpu) UNSTARVE_REQUIRES(mutex_);

  std::atomic<RecordSink*> sink_{nullptr};
  std::atomic<int> telling_{0};
  std::atomic<int> ring_count_{0};
  Mutex mutex_;
  std::deque<std::optional<DeviceRing>> rings_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::emulated
