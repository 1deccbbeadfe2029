#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "feed/pipeline/control/controller.h"

namespace unstarve::feed {

/// Sums since a loader was opened, as the controller needs them.
struct ControlTotals {
  std::int64_t consumer_wait_ns = 0;
  std::int64_t consumer_busy_ns = 0;
  std::uint64_t consumer_images = 0;
  std::uint64_t loaded_images = 0;
  std::int64_t load_ns = 0;
  std::int64_t load_cpu_ns = 0;
};

/// Feeds a Controller with windows of a quarter of a second, and remembers its moves. It has no
/// thread: whoever passes by asks due(), and the one that is told so calls step(). When nothing
/// moves at all there is nothing to decide.
/// Thread rule: any thread.
class LiveControl {
 public:
  /// `cpus` says how many threads may run at most; it is asked now and then.
  LiveControl(const Controller::Settings& settings, std::function<int()> cpus, std::int64_t now_ns);

  /// True for one caller per window.
  bool due(std::int64_t now_ns);
  struct Targets {
    int threads = 0;
    int prefetch = 0;
  };
  /// New targets, where there are any.
  std::optional<Targets> step(const ControlTotals& totals, std::int64_t now_ns)
      UNSTARVE_EXCLUDES(mutex_);
  /// No more than `threads` could be started.
  void note_thread_failure(int threads, std::int64_t now_ns, const std::string& why)
      UNSTARVE_EXCLUDES(mutex_);

  /// The last hundreds of them, oldest first.
  std::vector<ControlMove> moves() const UNSTARVE_EXCLUDES(mutex_);

 private:
  void remember(ControlMove move) UNSTARVE_REQUIRES(mutex_);

  const bool changes_anything_;
  const std::function<int()> cpus_;
  std::atomic<std::int64_t> next_ns_;
  mutable Mutex mutex_;
  Controller controller_ UNSTARVE_GUARDED_BY(mutex_);
  ControlTotals before_ UNSTARVE_GUARDED_BY(mutex_);
  std::int64_t before_ns_ UNSTARVE_GUARDED_BY(mutex_);
  int most_threads_ UNSTARVE_GUARDED_BY(mutex_);
  int startable_ UNSTARVE_GUARDED_BY(mutex_);  // more threads could not be started
  std::int64_t cpus_asked_ns_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<ControlMove> moves_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
