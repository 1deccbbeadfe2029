#pragma once

#include <atomic>

#include "base/mutex.h"

namespace unstarve::emulated {

class Machine;

/// Calls the functions that streams call, and brings what ends into the records while the program
/// does not call CUDA. The thread is started when it is needed first, and never ends: what it uses
/// is never destroyed.
class CompletionThread {
 public:
  explicit CompletionThread(Machine& machine) : machine_(machine) {}

  /// So many host functions were given to streams: they must run when their turn comes.
  void expect_host_functions(int count) {
    if (count == 0) return;
    host_functions_.fetch_add(count);
    wake();
  }
  /// Something was put into a stream: it should get into the records.
  void expect_records() {
    if (!watching_.exchange(true, std::memory_order_acq_rel)) wake();
  }

  /// Something is due now.
  void wake() UNSTARVE_EXCLUDES(mutex_);

 private:
  void run() UNSTARVE_EXCLUDES(mutex_);
  /// Brings the device to now and calls what is due; when to look again, INT64_MAX: not before
  /// something is expected.
  std::int64_t look();

  Machine& machine_;
  std::atomic<bool> watching_{false};
  Mutex mutex_;
  CondVar changed_;
  bool started_ UNSTARVE_GUARDED_BY(mutex_) = false;
  bool woken_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::atomic<int> host_functions_{0};
};

}  // namespace unstarve::emulated
