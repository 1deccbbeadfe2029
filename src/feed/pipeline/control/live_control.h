#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
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

/// The sums at a time.
struct ControlSample {
  ControlTotals totals;
  std::int64_t now_ns = 0;
};

/// Feeds a Controller with windows of a quarter of a second, and remembers its moves. Whoever
/// passes by, a loading thread or the consumer, asks due() (1 ns); the one that is told so leaves
/// the sums with post(), which wakes the thread that decides (2 to 4 us, four times a second). That
/// thread calls take() and step(), and starts threads: so that training does not have to, and does
/// not read the files of the system that say how many CPUs there are (35 us, every five seconds).
/// When nothing moves at all there is nothing to decide.
/// Thread rule: any thread; take() and step() one.
class LiveControl {
 public:
  /// `cpus` says how many threads may run at most; it is asked now and then.
  LiveControl(const Controller::Settings& settings, std::function<int()> cpus, std::int64_t now_ns);

  /// Whether it may move anything; if not, nothing is ever due.
  bool changes_anything() const { return changes_anything_; }
  /// True for one caller per window, who then calls post().
  bool due(std::int64_t now_ns);
  /// Leaves the sums for the thread that decides; the latest count.
  void post(const ControlSample& sample) noexcept UNSTARVE_EXCLUDES(mutex_);
  /// Waits for sums. Nothing: stopped.
  std::optional<ControlSample> take(const std::stop_token& stop) UNSTARVE_EXCLUDES(mutex_);
  /// Whether all that was posted has been decided on: take() has been called again.
  bool settled() const UNSTARVE_EXCLUDES(mutex_);
  struct Targets {
    int threads = 0;
    int prefetch = 0;
    bool operator==(const Targets&) const = default;
  };
  /// New targets, where there are any. Sums that are older than those of the last call say nothing.
  std::optional<Targets> step(const ControlTotals& totals, std::int64_t now_ns)
      UNSTARVE_EXCLUDES(mutex_);
  /// No more than `threads` could be started.
  void note_thread_failure(int threads, std::int64_t now_ns, const std::string& why)
      UNSTARVE_EXCLUDES(mutex_);
  /// There is no thread that decides.
  void note_no_control(std::int64_t now_ns, const std::string& why) UNSTARVE_EXCLUDES(mutex_);

  /// The last hundreds of them, oldest first.
  std::vector<ControlMove> moves() const UNSTARVE_EXCLUDES(mutex_);

 private:
  int ask_cpus(std::int64_t now_ns);
  void remember(ControlMove move) noexcept UNSTARVE_REQUIRES(mutex_);

  const bool changes_anything_;
  const std::function<int()> cpus_;
  std::atomic<std::int64_t> next_ns_;
  mutable Mutex mutex_;
  CondVar posted_;
  std::optional<ControlSample> sample_ UNSTARVE_GUARDED_BY(mutex_);  // posted, not taken
  bool deciding_ UNSTARVE_GUARDED_BY(mutex_) = false;                // on one that was taken
  Controller controller_ UNSTARVE_GUARDED_BY(mutex_);
  Targets told_ UNSTARVE_GUARDED_BY(mutex_);
  ControlTotals before_ UNSTARVE_GUARDED_BY(mutex_);
  std::int64_t before_ns_ UNSTARVE_GUARDED_BY(mutex_);
  int startable_ UNSTARVE_GUARDED_BY(mutex_);  // more threads could not be started
  std::vector<ControlMove> moves_ UNSTARVE_GUARDED_BY(mutex_);

  // Of the thread that decides.
  int most_threads_;
  std::int64_t cpus_asked_ns_;
};

}  // namespace unstarve::feed
