#include "feed/pipeline/control/thread_gate.h"

namespace unstarve::feed {

void ThreadGate::set_open(int threads) {
  {
    MutexLock lock(mutex_);
    open_.store(threads, std::memory_order_relaxed);
  }
  opened_.notify_all();
}

bool ThreadGate::pass(int thread, const std::stop_token& stop) {
  if (thread < open()) return !stop.stop_requested();
  MutexLock lock(mutex_);
  opened_.wait(mutex_, stop, [&] { return thread < open(); });
  return !stop.stop_requested();
}

}  // namespace unstarve::feed
