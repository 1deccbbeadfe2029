#pragma once

#include <atomic>
#include <stop_token>

#include "base/mutex.h"

namespace unstarve::feed {

/// Lets only the first so many threads work; the others wait here, and cost nothing.
/// Thread rule: any thread.
class ThreadGate {
 public:
  explicit ThreadGate(int open) : open_(open) {}

  void set_open(int threads) UNSTARVE_EXCLUDES(mutex_);
  int open() const { return open_.load(std::memory_order_relaxed); }
  /// Whether pass() would not wait.
  bool lets_pass(int thread) const { return thread < open(); }
  /// Waits while thread number `thread`, from 0 on, may not work. False once stopped.
  bool pass(int thread, const std::stop_token& stop) UNSTARVE_EXCLUDES(mutex_);

 private:
  // Written with the mutex held; read without it where a late answer costs one sample more.
  std::atomic<int> open_;
  Mutex mutex_;
  CondVar opened_;
};

}  // namespace unstarve::feed
