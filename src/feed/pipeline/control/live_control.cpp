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

ControlWindow between(const ControlTotals& before, const ControlTotals& now) {
  ControlWindow window;
  window.consumer_wait_ns = now.consumer_wait_ns - before.consumer_wait_ns;
  window.consumer_busy_ns = now.consumer_busy_ns - before.consumer_busy_ns;
  window.consumer_images = now.consumer_images - before.consumer_images;
  window.loaded_images = now.loaded_images - before.loaded_images;
  window.load_ns = now.load_ns - before.load_ns;
  window.load_cpu_ns = now.load_cpu_ns - before.load_cpu_ns;
  return window;
}

}  // namespace

LiveControl::LiveControl(const Controller::Settings& settings, std::function<int()> cpus,
                         std::int64_t now_ns)
    : changes_anything_(settings.threads || settings.prefetch),
      cpus_(std::move(cpus)),
      next_ns_(now_ns + kWindowNs),
      controller_(settings),
      before_ns_(now_ns),
      most_threads_(settings.first_threads),
      startable_(std::numeric_limits<int>::max()),
      cpus_asked_ns_(now_ns) {
  MutexLock lock(mutex_);
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

std::optional<LiveControl::Targets> LiveControl::step(const ControlTotals& totals,
                                                      std::int64_t now_ns) {
  MutexLock lock(mutex_);
  ControlWindow window = between(before_, totals);
  window.end_ns = now_ns;
  window.length_ns = now_ns - before_ns_;
  before_ = totals;
  before_ns_ = now_ns;
  if (window.length_ns > kLongestWindowNs) return std::nullopt;
  if (now_ns - cpus_asked_ns_ >= kAskCpusEveryNs) {
    most_threads_ = cpus_();
    cpus_asked_ns_ = now_ns;
  }
  window.most_threads = std::min(most_threads_, startable_);
  std::vector<ControlMove> moves = controller_.step(window);
  if (moves.empty()) return std::nullopt;
  for (ControlMove& move : moves) remember(std::move(move));
  return Targets{controller_.threads(), controller_.prefetch()};
}

void LiveControl::note_thread_failure(int threads, std::int64_t now_ns, const std::string& why) {
  MutexLock lock(mutex_);
  startable_ = std::max(1, threads);
  remember({now_ns, ControlMove::What::kThreads, controller_.threads(), startable_, why});
}

void LiveControl::remember(ControlMove move) {
  if (moves_.size() == kMostMoves) moves_.erase(moves_.begin());
  moves_.push_back(std::move(move));
}

std::vector<ControlMove> LiveControl::moves() const {
  MutexLock lock(mutex_);
  return moves_;
}

}  // namespace unstarve::feed
