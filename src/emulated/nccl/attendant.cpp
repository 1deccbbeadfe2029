#include "emulated/nccl/attendant.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "emulated/process/machine.h"

namespace unstarve::emulated::nccl {
namespace {

// Between two looks; the longer nothing happens, the rarer. What a late look costs is that the
// others learn late that this rank has come; when it came they learn exactly.
constexpr std::int64_t kShortestNs = 20'000;
constexpr std::int64_t kLongestNs = 1'000'000;

}  // namespace

Attendant& Attendant::get() {
  static Attendant* const attendant = new Attendant;
  return *attendant;
}

void Attendant::expect(const std::shared_ptr<Member>& member) {
  const MutexLock lock(mutex_);
  if (!started_) start();
  if (std::find(at_work_.begin(), at_work_.end(), member) == at_work_.end()) {
    at_work_.push_back(member);
  }
  expected_ = true;
  changed_.notify_one();
}

void Attendant::start() {
  // Signals are the program's business: they go to its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this] { run(); }).detach();
    started_ = true;
  } catch (...) {
    started_ = false;  // no thread to be had: the next one asks again
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Attendant::run() {
  std::int64_t pause_ns = kShortestNs;
  for (;;) {
    Machine* const machine = Machine::existing();
    const std::int64_t change_ns = machine != nullptr ? machine->look() : INT64_MAX;
    const MutexLock lock(mutex_);
    std::erase_if(at_work_, [](const auto& member) { return member->idle(); });
    const auto expected = [this]() UNSTARVE_REQUIRES(mutex_) { return expected_; };
    if (at_work_.empty()) {
      changed_.wait(mutex_, {}, expected);
    } else {
      const std::int64_t until_change_ns = std::max(kShortestNs, change_ns - now_ns());
      changed_.wait_for(mutex_, std::chrono::nanoseconds(std::min(pause_ns, until_change_ns)),
                        expected);
    }
    pause_ns = expected_ ? kShortestNs : std::min(2 * pause_ns, kLongestNs);
    expected_ = false;
  }
}

}  // namespace unstarve::emulated::nccl
