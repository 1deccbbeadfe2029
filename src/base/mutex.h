#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

// Clang's lock checker (-Wthread-safety). libstdc++'s std::mutex carries no annotations, so the
// project locks through the wrappers below.
#if defined(__clang__)
#define UNSTARVE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define UNSTARVE_THREAD_ANNOTATION(x)
#endif
#define UNSTARVE_GUARDED_BY(mutex) UNSTARVE_THREAD_ANNOTATION(guarded_by(mutex))
#define UNSTARVE_REQUIRES(...) UNSTARVE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define UNSTARVE_EXCLUDES(...) UNSTARVE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace unstarve {

class UNSTARVE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() UNSTARVE_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() UNSTARVE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for a scope; also what CondVar waits with.
class UNSTARVE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) UNSTARVE_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() UNSTARVE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable whose waits end early when a stop is requested. The caller holds `mutex`.
class CondVar {
 public:
  /// Waits until `ready()` or a stop request; returns ready()'s last answer. `ready` runs with the
  /// mutex held; the checker cannot see that, so mark it UNSTARVE_REQUIRES(mutex) at the call.
  template <class Ready>
  bool wait(Mutex& mutex, std::stop_token stop, Ready ready) UNSTARVE_REQUIRES(mutex) {
    return condition_.wait(mutex, std::move(stop), std::move(ready));
  }
  /// As wait(), but also ends after `at_most`.
  template <class Ready>
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds at_most, Ready ready)
      UNSTARVE_REQUIRES(mutex) {
    return condition_.wait_for(mutex, at_most, std::move(ready));
  }
  /// Both.
  template <class Ready>
  bool wait_until(Mutex& mutex, std::stop_token stop,
                  std::chrono::steady_clock::time_point deadline, Ready ready)
      UNSTARVE_REQUIRES(mutex) {
    return condition_.wait_until(mutex, std::move(stop), deadline, std::move(ready));
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace unstarve
