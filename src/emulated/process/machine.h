#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "emulated/duration/duration_model.h"
#include "emulated/duration/price_list.h"
#include "emulated/engine/schedule.h"
#include "emulated/process/completion_thread.h"
#include "emulated/process/memory/process_memory.h"
#include "emulated/process/objects.h"
#include "emulated/process/settings.h"

namespace unstarve::emulated {

class ProcessGpu;

static_assert(std::is_same_v<PriceList::Prices, Prices>, "what is priced goes into records");

/// All emulated GPUs of the process: one schedule, so that streams of several GPUs can wait for
/// each other. Made at the first use of CUDA and never destroyed, for programs free what they hold
/// while the process ends, in any order. Thread rule: any thread. Locks: `mutex` first, then what
/// memory or the recorder take.
class Machine {
 public:
  /// nullptr: there is no emulated GPU for this process; usable() says why. Made if it has to be.
  static Machine* get();
  /// As get(), but makes nothing.
  static Machine* existing();
  static Outcome state();

  const Profile& profile() const { return settings_.profile; }
  const Settings& settings() const { return settings_; }
  const DurationModel& durations() const { return *durations_; }
  const PriceList& prices() const { return prices_; }
  int gpus() const { return static_cast<int>(gpus_.size()); }
  ProcessGpu* gpu(int index);
  /// How threads wait for the device now.
  WaitRule rule() const;
  void context_made() { contexts_.fetch_add(1); }

  /// A place in a stream.
  struct Place {
    LaneId lane = 0;
    std::uint64_t position = 0;
  };
  /// Keeps the calling thread until the places are reached.
  void wait_for(std::span<const Place> places, WaitRule rule) UNSTARVE_EXCLUDES(mutex);
  bool reached(const Place& place) UNSTARVE_REQUIRES(mutex) {
    return schedule.done(place.lane, place.position);
  }
  /// Brings the schedule to now, and what ended into the records.
  void advance(std::int64_t now) UNSTARVE_REQUIRES(mutex);
  /// The number of the stream in which what `lane` is given happens, as profilers see it.
  void name_lane(LaneId lane, std::uint64_t stream_id) UNSTARVE_REQUIRES(mutex);

  /// kCaptureUnsupported where a capture forbids calls that could wait for the device or change
  /// what it uses (cudaStreamCaptureMode); the captures cannot end well then.
  Outcome check_unsafe_call() UNSTARVE_REQUIRES(mutex);
  /// kCaptureUnsupported: `stream` captures, which cannot end well then; else check_default().
  Outcome check_not_capturing(const Stream& stream) UNSTARVE_REQUIRES(mutex);
  /// kCaptureImplicit: the legacy default stream is used while a stream that orders with it
  /// captures.
  Outcome check_default(const Stream& stream) UNSTARVE_REQUIRES(mutex);
  /// Other processes are told up to when at least the device has work of this one.
  void publish_busy(ProcessGpu& gpu, std::int64_t now) UNSTARVE_REQUIRES(mutex);
  /// As advance(), now; when something changes by itself next, INT64_MAX: nothing does.
  std::int64_t look() UNSTARVE_EXCLUDES(mutex);
  /// The process ends.
  void leave() UNSTARVE_EXCLUDES(mutex);

  Mutex mutex;
  Schedule schedule UNSTARVE_GUARDED_BY(mutex);
  std::unordered_set<const void*> streams UNSTARVE_GUARDED_BY(mutex);
  std::unordered_set<const void*> events UNSTARVE_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<Capturing>> captures UNSTARVE_GUARDED_BY(mutex);
  /// CUPTI's number of the default stream is 7; those of a program begin behind 12.
  std::uint64_t last_stream_id UNSTARVE_GUARDED_BY(mutex) = 12;
  std::uint32_t last_graph_id UNSTARVE_GUARDED_BY(mutex) = 0;
  ProcessMemory memory;
  CompletionThread completion;

 private:
  explicit Machine(Settings settings);
  static Machine* make();
  void hand_out_ended() UNSTARVE_REQUIRES(mutex);

  const Settings settings_;
  const std::shared_ptr<const DurationModel> durations_;
  const PriceList prices_;
  std::vector<std::unique_ptr<ProcessGpu>> gpus_;
  std::vector<std::uint64_t> lane_streams_ UNSTARVE_GUARDED_BY(mutex);
  std::int64_t others_seen_ns_ UNSTARVE_GUARDED_BY(mutex) = 0;
  std::atomic<int> contexts_{0};
};

/// The number of the calling thread, as the kernel counts them.
int thread_id();
/// cudaStreamCaptureMode of the calling thread, for calls that captures may forbid.
int capture_mode_of_thread();

}  // namespace unstarve::emulated
