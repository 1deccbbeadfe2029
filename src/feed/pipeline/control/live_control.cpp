#include "feed/pipeline/control/live_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace unstarve::feed {
namespace {

constexpr std::int64_t kWindowNs = 250'000'000;
// Longer windows are pauses of the consumer, a validation for example: they say nothing.
constexpr std::int64_t kLongestWindowNs = 4 * kWindowNs;
constexpr std::int64_t kAskCpusEveryNs = 5'000'000'000;
constexpr std::size_t kMostMoves = 256;

/// Sums only grow; one that was read a moment too early is no step back.
template <class Number>
Number growth(Number before, Number now) {
  return now > before ? now - before : Number{0};
}

ControlWindow between(const ControlTotals& before, const ControlTotals& now) {
  ControlWindow window;
  window.consumer_wait_ns = growth(before.consumer_wait_ns, now.consumer_wait_ns);
  window.consumer_busy_ns = growth(before.consumer_busy_ns, now.consumer_busy_ns);
  window.consumer_images = growth(before.consumer_images, now.consumer_images);
  window.loaded_images = growth(before.loaded_images, now.loaded_images);
  window.load_ns = growth(before.load_ns, now.load_ns);
  window.load_cpu_ns = growth(before.load_cpu_ns, now.load_cpu_ns);
  return window;
}

}  // namespace

LiveControl::LiveControl(const Controller::Settings& settings, std::function<int()> cpus,
                         std::int64_t now_ns)
    : changes_anything_(settings.threads || settings.prefetch),
      cpus_(std::move(cpus)),
      next_ns_(now_ns + kWindowNs),
      controller_(settings),
      told_{settings.first_threads, settings.first_prefetch},
      before_ns_(now_ns),
      startable_(std::numeric_limits<int>::max()),
      most_threads_(settings.first_threads),
      cpus_asked_ns_(now_ns) {
  MutexLock lock(mutex_);
  moves_.reserve(kMostMoves);  // so that none is lost for want of memory
  if (settings.threads) {
    remember({now_ns, ControlMove::What::kThreads, 0, settings.first_threads,
              fmt::format("all {} CPUs that the process may use fill the first batches",
                          settings.first_threads)});
  }
}

bool LiveControl::due(std::int64_t now_ns) {
  std::int64_t next_ns = next_ns_.load(std::memory_order_relaxed);
  return changes_anything_ && now_ns >= next_ns &&
         next_ns_.compare_exchange_strong(next_ns, now_ns + kWindowNs);
}

void LiveControl::post(const ControlSample& sample) noexcept {
  {
    const MutexLock lock(mutex_);
    if (sample_ && sample_->now_ns > sample.now_ns) return;
    sample_ = sample;
  }
  posted_.notify_one();
}

std::optional<ControlSample> LiveControl::take(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  deciding_ = false;
  posted_.wait(mutex_, stop, [this]() UNSTARVE_REQUIRES(mutex_) { return sample_.has_value(); });
  if (stop.stop_requested()) return std::nullopt;
  deciding_ = true;
  return std::exchange(sample_, std::nullopt);
}

bool LiveControl::settled() const {
  const MutexLock lock(mutex_);
  return !sample_ && !deciding_;
}

std::optional<LiveControl::Targets> LiveControl::step(const ControlTotals& totals,
                                                      std::int64_t now_ns) {
  const int most_threads = ask_cpus(now_ns);
  MutexLock lock(mutex_);
  if (now_ns <= before_ns_) return std::nullopt;
  ControlWindow window = between(before_, totals);
  window.end_ns = now_ns;
  window.length_ns = now_ns - before_ns_;
  before_ = totals;
  before_ns_ = now_ns;
  if (window.length_ns > kLongestWindowNs) return std::nullopt;
  window.most_threads = std::min(most_threads, startable_);
  std::vector<ControlMove> moves = controller_.step(window);
  for (ControlMove& move : moves) remember(std::move(move));
  // Not whether there were moves: a step that ended for want of memory may have left some.
  const Targets targets{controller_.threads(), controller_.prefetch()};
  if (targets == told_) return std::nullopt;
  told_ = targets;
  return targets;
}

/// Without the mutex: it reads files, and whoever asks for the moves need not wait for them.
int LiveControl::ask_cpus(std::int64_t now_ns) {
  if (now_ns - cpus_asked_ns_ >= kAskCpusEveryNs) {
    most_threads_ = cpus_();
    cpus_asked_ns_ = now_ns;
  }
  return most_threads_;
}

void LiveControl::note_thread_failure(int threads, std::int64_t now_ns, const std::string& why) {
  MutexLock lock(mutex_);
  startable_ = std::max(1, threads);
  remember({now_ns, ControlMove::What::kThreads, controller_.threads(), startable_, why});
}

void LiveControl::note_no_control(std::int64_t now_ns, const std::string& why) {
  MutexLock lock(mutex_);
  const int threads = controller_.threads();
  remember({now_ns, ControlMove::What::kThreads, threads, threads,
            "they stay as they are, without a thread that decides: " + why});
}

void LiveControl::remember(ControlMove move) noexcept {
  if (moves_.size() == kMostMoves) moves_.erase(moves_.begin());
  moves_.push_back(std::move(move));
}

std::vector<ControlMove> LiveControl::moves() const {
  MutexLock lock(mutex_);
  return moves_;
}

}  // namespace unstarve::feed
