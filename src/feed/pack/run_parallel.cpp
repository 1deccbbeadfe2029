#include "feed/pack/run_parallel.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace unstarve::feed {
namespace {

class SharedWork {
 public:
  explicit SharedWork(std::uint64_t count) : count_(count) {}

  void work(const WorkOnItem& work_on, bool on_calling_thread) {
    try {
      for (std::uint64_t index = next_++; index < count_ && !failed_; index = next_++) {
        const Status status = work_on({index, on_calling_thread, failed_});
        if (!status) keep(status.error());
      }
    } catch (...) {
      keep(caught_error());
    }
  }

  Status result() {
    MutexLock lock(mutex_);
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }

 private:
  void keep(Error error) {
    MutexLock lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
  }

  const std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  Mutex mutex_;
  std::optional<Error> error_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace

Status run_parallel(std::uint64_t count, int threads,
                    const std::function<WorkOnItem()>& make_work) {
  SharedWork work(count);
  std::vector<std::jthread> others;
  const std::uint64_t useful = std::min(count, static_cast<std::uint64_t>(std::max(threads, 1)));
  try {
    for (std::uint64_t i = 1; i < useful; ++i) {
      others.emplace_back([&work, work_on = make_work()] { work.work(work_on, false); });
    }
  } catch (const std::exception&) {
    // Those that did start are enough.
  }
  work.work(make_work(), true);
  for (std::jthread& other : others) other.join();
  return work.result();
}

}  // namespace unstarve::feed
