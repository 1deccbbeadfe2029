#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/mutex.h"
#include "emulated/cupti/client_buffers.h"
#include "emulated/cupti/client_clock.h"
#include "emulated/process/records/recorder.h"

namespace unstarve::emulated {

/// One record on its way to the client; `bytes` of `data` are in use. Times are still ours.
struct TracedRecord {
  std::size_t bytes = 0;
  alignas(8) std::array<std::byte, kRecordBytesMax> data = {};
};

/// CUPTI's activity interface: keeps the records of the kinds that were asked for, and hands them
/// out in the client's buffers when it flushes, and whenever enough of them wait. The client's
/// callbacks run on the thread that flushes or that makes a CUDA call, never under a device's lock.
/// Thread rule: any thread.
class Tracer {
 public:
  cupti::Code enable(std::uint32_t kind, bool on);
  /// One function of the runtime or the driver, whether its kind is enabled or not.
  cupti::Code enable_call(bool driver, std::uint32_t call, bool on);
  /// Kernels say when they were queued and submitted; else that is unknown: 0.
  void enable_latency(bool on);
  /// Every kind off; what was recorded waits for a flush.
  void disable_all();
  bool any_enabled();

  cupti::Code set_callbacks(cupti::RequestBuffer request, cupti::CompleteBuffer complete);
  void set_clock(cupti::ReadTimestamp read);
  std::uint64_t now();
  void set_thread_id_type(std::uint32_t type);
  std::uint32_t thread_id_type();

  cupti::Code flush();
  /// Records lost since this was last asked.
  std::size_t take_dropped();

  void call_begins(const CallRecord& call);
  void call_ended(const CallRecord& call);
  void kernel_ended(const cupti::Kernel& record, const char* name);
  void copy_ended(const cupti::Memcpy& record);
  void fill_ended(const cupti::Memset& record);
  void wait_ended(const cupti::Synchronization& record);

  /// The calling thread's stack of the client's numbers, one for each kind 1 to 5.
  static cupti::Code push_external(std::uint32_t kind, std::uint64_t id);
  static cupti::Code pop_external(std::uint32_t kind, std::uint64_t* id);

 private:
  static constexpr std::uint32_t kCallCount = 1024;

  bool wants_call(const CallRecord& call) UNSTARVE_REQUIRES(mutex_);
  bool launched_while_enabled(std::uint32_t correlation) UNSTARVE_REQUIRES(mutex_);
  template <class Record>
  void keep(const Record& record) UNSTARVE_REQUIRES(mutex_);
  void keep_external(std::uint32_t correlation) UNSTARVE_REQUIRES(mutex_);
  void deliver() UNSTARVE_REQUIRES(delivery_mutex_);
  void convert_times(TracedRecord& record) UNSTARVE_REQUIRES(delivery_mutex_);

  Mutex mutex_;
  std::bitset<cupti::kKindCount> kinds_ UNSTARVE_GUARDED_BY(mutex_);
  // By number: asked for, and asked not to be recorded; [1] the driver's.
  std::array<std::bitset<kCallCount>, 2> calls_on_ UNSTARVE_GUARDED_BY(mutex_);
  std::array<std::bitset<kCallCount>, 2> calls_off_ UNSTARVE_GUARDED_BY(mutex_);
  std::deque<TracedRecord> waiting_ UNSTARVE_GUARDED_BY(mutex_);
  bool latency_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::size_t dropped_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::uint32_t thread_id_type_ UNSTARVE_GUARDED_BY(mutex_) = cupti::kThreadIdDefault;
  // The first call that was seen since something was enabled: work launched before is not traced.
  std::uint32_t first_correlation_ UNSTARVE_GUARDED_BY(mutex_) = 0;

  /// Held while the client's callbacks run; taken before mutex_.
  Mutex delivery_mutex_;
  ClientBuffers buffers_ UNSTARVE_GUARDED_BY(delivery_mutex_);
  ClientClock clock_ UNSTARVE_GUARDED_BY(delivery_mutex_);
};

/// The process's one; never destroyed, since records come until the very end.
Tracer& tracer();

}  // namespace unstarve::emulated
