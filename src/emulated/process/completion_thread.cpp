#include "emulated/process/completion_thread.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "emulated/process/machine.h"
#include "emulated/process/records/recorder_state.h"

namespace unstarve::emulated {

namespace {

constexpr std::int64_t kRecordsEveryNs = 20'000'000;
// A stream that waits for something outside, another rank say, gives no time to wait for.
constexpr std::int64_t kShortestWaitNs = 20'000;

}  // namespace

void CompletionThread::wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  if (!started_) {
    started_ = true;
    // Signals are the program's business: they go to its own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { run(); }).detach();
    } catch (...) {
      started_ = false;  // no thread to be had: the next one asks again
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed_.notify_one();
}

void CompletionThread::run() {
  for (;;) {
    const std::int64_t again_ns = look();
    MutexLock lock(mutex_);
    const auto woken = [this]() UNSTARVE_REQUIRES(mutex_) { return woken_; };
    if (again_ns == INT64_MAX) {
      changed_.wait(mutex_, {}, woken);
    } else {
      const std::int64_t wait_ns = std::max(kShortestWaitNs, again_ns - now_ns());
      changed_.wait_for(mutex_, std::chrono::nanoseconds(wait_ns), woken);
    }
    woken_ = false;
  }
}

std::int64_t CompletionThread::look() {
  watching_.store(false, std::memory_order_release);
  std::vector<DueHostFunction> due;
  {
    MutexLock lock(machine_.mutex);
    machine_.advance(now_ns());
    due = machine_.schedule.take_due();
  }
  for (const DueHostFunction& each : due) {
    each.host.function(each.host.argument);
    host_functions_.fetch_sub(1);
    MutexLock lock(machine_.mutex);
    machine_.advance(now_ns());
    machine_.schedule.host_function_returned(each.id);
  }
  MutexLock lock(machine_.mutex);
  machine_.advance(now_ns());
  if (machine_.schedule.has_due()) return 0;
  if (machine_.schedule.idle()) return INT64_MAX;
  watching_.store(true, std::memory_order_release);
  const std::int64_t again_ns = now_ns() + kRecordsEveryNs;
  if (host_functions_.load() == 0) return again_ns;
  const std::int64_t change_ns = machine_.schedule.next_change_ns();
  // Never by itself: what the stream waits for has to be asked.
  return std::min(again_ns, change_ns == INT64_MAX ? 0 : change_ns);
}

}  // namespace unstarve::emulated
