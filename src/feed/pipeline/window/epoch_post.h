#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/mutex.h"
#include "feed/pipeline/window/batch_window.h"

namespace unstarve::feed {

/// Where the loading threads learn which window to work on. Only the latest counts: a thread that
/// was busy with an older one never sees those in between.
/// Thread rule: any thread.
class EpochPost {
 public:
  /// Shared: threads may still hold a window that is over.
  void announce(std::shared_ptr<BatchWindow> window) UNSTARVE_EXCLUDES(mutex_);
  /// Waits for an announcement after number `seen`, and moves `seen` on. Null once stopped.
  std::shared_ptr<BatchWindow> wait_newer(std::uint64_t& seen, const std::stop_token& stop)
      UNSTARVE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar announced_;
  std::uint64_t announcements_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<BatchWindow> latest_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
