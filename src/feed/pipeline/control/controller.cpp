#include "feed/pipeline/control/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace unstarve::feed {
namespace {

constexpr double kFed = 0.01;        // share of its time that a fed consumer may wait
constexpr double kHeadroom = 1.03;   // threads are never busy all the time
constexpr double kWorthIt = 1.05;    // a thread more must bring as much
constexpr double kJump = 1.25;       // a rate that many times as high or low is another one
constexpr double kWaiting = 0.5;     // threads are on a CPU for less of the time that they load
constexpr double kOtherLoad = 1.15;  // a change of load that makes a lesson void
// Windows in a row. A consumer that waits is acted on at once; fewer threads only when nothing
// hurries.
constexpr int kCalmWindows = 4;
constexpr int kIdleWindows = 8;
constexpr int kHungryForMore = 2;
constexpr int kSettlingWindows = 2;  // until a move shows
constexpr int kProofWindows = 8;     // that fewer threads must stay fed
constexpr std::int64_t kFirstHoldNs = 2'000'000'000;
constexpr std::int64_t kLongestHoldNs = 64'000'000'000;

double per_second(std::uint64_t images, std::int64_t ns) {
  return static_cast<double>(images) * 1e9 / static_cast<double>(std::max<std::int64_t>(ns, 1));
}

}  // namespace

std::string describe(const ControlMove& move) {
  return fmt::format("{} {} -> {}: {}",
                     move.what == ControlMove::What::kThreads ? "threads" : "prefetched batches",
                     move.from, move.to, move.reason);
}

Controller::Controller(const Settings& settings)
    : settings_(settings),
      threads_(settings.first_threads),
      prefetch_(settings.first_prefetch),
      most_threads_(settings.first_threads) {}

void Controller::Rate::add(std::uint64_t images, std::int64_t ns) {
  constexpr double kKept = 0.8;
  const double now = feed::per_second(images, ns);
  const int side = now > kJump * per_second() ? 1 : now * kJump < per_second() ? -1 : 0;
  const double kept = side != 0 && (side == side_ || ns_ == 0) ? 0 : kKept;
  images_ = kept * images_ + static_cast<double>(images);
  ns_ = kept * ns_ + static_cast<double>(ns);
  side_ = side;
}

void Controller::measure(const ControlWindow& window) {
  if (window.consumer_images > 0) demand_.add(window.consumer_images, window.consumer_busy_ns);
  if (window.loaded_images > 0 && window.load_ns > 0) {
    rate_.add(window.loaded_images, window.load_ns);
    on_cpu_ = static_cast<double>(window.load_cpu_ns) / static_cast<double>(window.load_ns);
  }
  wait_ratio_ = static_cast<double>(window.consumer_wait_ns) /
                static_cast<double>(std::max<std::int64_t>(window.length_ns, 1));
  hungry_windows_ = wait_ratio_ > kFed ? hungry_windows_ + 1 : 0;
}

double Controller::need() const {
  const bool known = demand_.per_second() > 0 && rate_.per_second() > 0;
  return known ? demand_.per_second() * kHeadroom / rate_.per_second() : threads_;
}

int Controller::needed() const { return static_cast<int>(std::clamp(std::ceil(need()), 1.0, 1e6)); }

int Controller::needed_at_best() const {
  return static_cast<int>(std::clamp(std::ceil(need() * std::min(on_cpu_, 1.0)), 1.0, 1e6));
}

bool Controller::too_few_holds(const ControlWindow& window) const {
  return window.end_ns < too_few_.until_ns && need() * kOtherLoad > too_few_.measured;
}

bool Controller::too_many_holds(const ControlWindow& window) const {
  const double supply = per_second(window.loaded_images, window.length_ns);
  return window.end_ns < too_many_.until_ns && supply < too_many_.measured * kOtherLoad;
}

void Controller::learn(Lesson& lesson, int threads, double measured, std::int64_t now_ns) {
  const bool again = lesson.threads == threads;
  lesson.threads = threads;
  lesson.hold_ns = again ? std::min(2 * lesson.hold_ns, kLongestHoldNs) : kFirstHoldNs;
  lesson.until_ns = now_ns + lesson.hold_ns;
  lesson.measured = measured;
}

std::string Controller::rates() const {
  std::string text = fmt::format("the consumer takes {:.0f} images/s, one thread loads {:.0f}",
                                 demand_.per_second(), rate_.per_second());
  if (on_cpu_ < 0.8) {
    text += fmt::format(
        ", {:.0f} % of its time on a CPU: it waits for storage or for CPUs that "
        "others use",
        100 * on_cpu_);
  }
  return text;
}

void Controller::set_threads(int to, const ControlWindow& window, std::string reason) {
  moves_.push_back({window.end_ns, ControlMove::What::kThreads, threads_, to, std::move(reason)});
  threads_before_ = threads_;
  supply_before_ = per_second(window.loaded_images, window.length_ns);
  settling_ = to > threads_ ? kSettlingWindows : kProofWindows;
  threads_ = to;
  calm_windows_ = hungry_windows_ = most_needed_ = idle_windows_ = 0;
}

void Controller::set_prefetch(int to, const ControlWindow& window, std::string reason) {
  moves_.push_back({window.end_ns, ControlMove::What::kPrefetch, prefetch_, to, std::move(reason)});
  prefetch_ = to;
  hungry_windows_ = 0;
}

void Controller::obey_limits(const ControlWindow& window) {
  most_threads_ = std::max(1, window.most_threads);
  if (settings_.threads && threads_ > most_threads_) {
    set_threads(most_threads_, window,
                fmt::format("the process may use {} CPUs now", most_threads_));
    threads_before_ = 0;  // nothing to judge
  }
  // Each thread needs a sample to work on while the consumer's batch waits for its last.
  const int fewest = 1 + (2 * threads_ + settings_.batch_size - 1) / settings_.batch_size;
  if (settings_.prefetch && prefetch_ < std::min(fewest, settings_.most_prefetch)) {
    const int to = std::min(fewest, settings_.most_prefetch);
    set_prefetch(to, window,
                 fmt::format("{} threads need that many batches of {} to be all at work", threads_,
                             settings_.batch_size));
  }
}

void Controller::judge_last_move(const ControlWindow& window) {
  if (threads_before_ == 0) return;
  const int before = threads_before_;
  const bool was_cut = before > threads_;
  if (settling_ > 0) --settling_;
  if (was_cut && hungry_windows_ > 0 && needed() <= before) {
    learn(too_few_, threads_, need(), window.end_ns);
    set_threads(before, window,
                fmt::format("with {} threads the consumer waits {:.1f} % of its time; {}", threads_,
                            100 * wait_ratio_, rates()));
    threads_before_ = 0;
    return;
  }
  if (settling_ > 0) return;
  threads_before_ = 0;
  const double supply = per_second(window.loaded_images, window.length_ns);
  if (!was_cut && wait_ratio_ > kFed && supply < kWorthIt * supply_before_) {
    learn(too_many_, before + 1, supply, window.end_ns);
    set_threads(before, window,
                fmt::format("{} threads load {:.0f} images/s, {} loaded {:.0f}: more do not help",
                            threads_, supply, before, supply_before_));
    threads_before_ = 0;
  }
}

void Controller::raise(const ControlWindow& window) {
  const int need = needed();
  if (hungry_windows_ == 0) return;
  if (need > threads_) {
    int to = std::min(need, most_threads_);
    // Where threads mostly wait, for storage or CPUs, more of them may wait all the longer.
    if (on_cpu_ < kWaiting) to = std::min(to, 2 * threads_);
    if (too_many_holds(window)) to = std::min(to, too_many_.threads - 1);
    if (settings_.threads && to > threads_) {
      return set_threads(
          to, window,
          fmt::format("{}; it waits {:.1f} % of its time: threads needed: {}{}", rates(),
                      100 * wait_ratio_, need, need > to ? fmt::format(", {} may run", to) : ""));
    }
  }
  // The threads should be enough, or cannot be more: what comes unevenly wants more in store.
  if (hungry_windows_ < kHungryForMore) return;
  if (settings_.prefetch && need <= threads_ && prefetch_ < settings_.most_prefetch) {
    const int to = std::min(2 * prefetch_, settings_.most_prefetch);
    return set_prefetch(to, window,
                        fmt::format("the consumer waits {:.1f} % of its time although {} threads "
                                    "should be enough: {}",
                                    100 * wait_ratio_, threads_, rates()));
  }
  const int more = threads_ + 1;
  const bool tried = too_many_holds(window) && more >= too_many_.threads;
  if (settings_.threads && more <= most_threads_ && !tried && threads_before_ == 0) {
    set_threads(more, window,
                fmt::format("the consumer waits {:.1f} % of its time with {} batches ahead: {}",
                            100 * wait_ratio_, prefetch_, rates()));
  }
}

void Controller::lower(const ControlWindow& window) {
  if (!settings_.threads || wait_ratio_ > kFed || threads_ == 1) {
    calm_windows_ = most_needed_ = idle_windows_ = 0;
    return;
  }
  const int fewest = too_few_holds(window) ? too_few_.threads + 1 : 1;
  const int need = std::max(needed(), fewest);
  calm_windows_ = need < threads_ ? calm_windows_ + 1 : 0;
  most_needed_ = calm_windows_ > 0 ? std::max(most_needed_, need) : 0;
  if (calm_windows_ >= kCalmWindows) {
    return set_threads(most_needed_, window,
                       fmt::format("{}: threads needed: {}", rates(), most_needed_));
  }
  // Threads that compete for CPUs are slow because they are many.
  const bool might_do = std::max(needed_at_best(), fewest) < threads_;
  idle_windows_ = might_do && threads_before_ == 0 ? idle_windows_ + 1 : 0;
  if (idle_windows_ < kIdleWindows) return;
  set_threads(threads_ - 1, window,
              fmt::format("{}: one thread less may be enough, and each be faster", rates()));
}

std::vector<ControlMove> Controller::step(const ControlWindow& window) {
  measure(window);
  obey_limits(window);
  judge_last_move(window);
  raise(window);
  lower(window);
  return std::exchange(moves_, {});
}

}  // namespace unstarve::feed
