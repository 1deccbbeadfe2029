#include "feed/pipeline/window/epoch_post.h"

#include <utility>

namespace unstarve::feed {

void EpochPost::announce(std::shared_ptr<BatchWindow> window) {
  {
    MutexLock lock(mutex_);
    latest_ = std::move(window);
    ++announcements_;
  }
  announced_.notify_all();
}

std::shared_ptr<BatchWindow> EpochPost::wait_newer(std::uint64_t& seen,
                                                   const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const auto newer = [&]() UNSTARVE_REQUIRES(mutex_) { return announcements_ > seen; };
  if (!announced_.wait(mutex_, stop, newer) || stop.stop_requested()) return nullptr;
  seen = announcements_;
  return latest_;
}

}  // namespace unstarve::feed
