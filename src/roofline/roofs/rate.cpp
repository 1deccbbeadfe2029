#include "roofline/roofs/rate.h"

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/units.h"

namespace unstarve::roofline {

namespace {

constexpr int kWarmUpShare = 5;  // of the time: a fifth

/// What one thread has done. A line of the cache each, so that counting disturbs nobody.
struct alignas(64) Done {
  std::atomic<double> amount{0};
};

Result<Work> make_safely(const MakeWork& make_work, int thread) {
  try {
    return make_work(thread);
  } catch (...) {
    return tl::unexpected<Error>(caught_error());
  }
}

/// What the threads of one measurement share.
class Crew {
 public:
  Crew(int threads, const MakeWork& make_work)
      : done_(static_cast<std::size_t>(threads)), ready_(threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back(
          [this, i, &make_work](const std::stop_token& stop) { work(stop, make_work, i); });
    }
  }

  void wait_until_ready() const { ready_.wait(); }

  double done() const {
    double sum = 0;
    for (const Done& each : done_) sum += each.amount.load(std::memory_order_relaxed);
    return sum;
  }

  std::optional<Error> error() {
    MutexLock lock(mutex_);
    return error_;
  }

 private:
  void work(const std::stop_token& stop, const MakeWork& make_work, int thread) {
    const Result<Work> work = make_safely(make_work, thread);
    ready_.count_down();
    try {
      if (!work) return fail_with(work.error());
      std::atomic<double>& mine = done_[static_cast<std::size_t>(thread)].amount;
      while (!stop.stop_requested()) {
        const Result<double> amount = (*work)();
        if (!amount) return fail_with(amount.error());
        mine.store(mine.load(std::memory_order_relaxed) + *amount, std::memory_order_relaxed);
      }
    } catch (...) {
      fail_with(caught_error());
    }
  }

  void fail_with(const Error& error) {
    MutexLock lock(mutex_);
    if (!error_) error_ = error;
  }

  std::vector<Done> done_;
  std::latch ready_;
  Mutex mutex_;
  std::optional<Error> error_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // last: they end before what they use goes
};

}  // namespace

Result<std::vector<double>> measure_rate(const RatePlan& plan, const MakeWork& make_work,
                                         Session& session) try {
  Crew crew(plan.threads, make_work);
  crew.wait_until_ready();
  session.sleep_ns(plan.duration_ns / kWarmUpShare);
  std::vector<double> rates;
  const std::int64_t window_ns = plan.duration_ns / plan.windows;
  for (int i = 0; i < plan.windows && !session.stopped(); ++i) {
    const double before = crew.done();
    const std::int64_t start_ns = session.clock().now_ns();
    session.sleep_ns(window_ns);
    if (const auto error = crew.error()) return tl::unexpected<Error>(*error);
    const std::int64_t taken_ns = session.clock().now_ns() - start_ns;
    if (session.stopped()) break;
    rates.push_back((crew.done() - before) / (static_cast<double>(taken_ns) / kNsPerS));
  }
  return rates;
} catch (...) {
  return tl::unexpected<Error>(caught_error());  // a thread that the system does not give
}

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

}  // namespace unstarve::roofline
