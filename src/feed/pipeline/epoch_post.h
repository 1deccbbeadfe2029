#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/mutex.h"
#include "feed/pipeline/batch_window.h"

namespace unstarve::feed {

/// Where the loading threads learn which epoch to work on. Only the latest counts: a thread that
/// was busy with an older one never sees those in between.
/// Thread rule: any thread.
class EpochPost {
 public:
  struct Epoch {
    std::shared_ptr<BatchWindow> window;  // shared: threads may still hold one that is over
    std::uint32_t number = 0;
  };

  void announce(Epoch epoch) UNSTARVE_EXCLUDES(mutex_);
  /// Waits for an announcement after number `seen`, and moves `seen` on. Nothing once stopped.
  std::optional<Epoch> wait_newer(std::uint64_t& seen, const std::stop_token& stop)
      UNSTARVE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar announced_;
  std::uint64_t announcements_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  Epoch latest_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
