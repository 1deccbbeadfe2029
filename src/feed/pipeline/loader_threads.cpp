#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "feed/pipeline/loader_impl.h"
#include "feed/pipeline/loading/sample_stages.h"

namespace unstarve::feed {
namespace {

// Batches ahead of the consumer to begin with, where nothing says how many.
constexpr int kUsualPrefetch = 4;

}  // namespace

void Loader::Impl::set_up_control() {
  const auto most_threads = [cpus = parts.cpus, given = options.max_threads] {
    return given > 0 ? given : std::max(1, cpus());
  };
  Controller::Settings settings;
  settings.threads = options.threads == 0;
  settings.prefetch = options.prefetch_batches == 0;
  settings.first_threads = settings.threads ? most_threads() : options.threads;
  settings.most_prefetch = most_ahead;
  settings.first_prefetch = settings.prefetch ? std::min(kUsualPrefetch, most_ahead) : most_ahead;
  settings.batch_size = options.batch_size;
  gate = std::make_unique<ThreadGate>(settings.first_threads);
  control = std::make_unique<LiveControl>(settings, most_threads, parts.clock->now_ns());
  ahead = settings.first_prefetch;
}

Status Loader::Impl::start_threads(int count) noexcept {
  owner = ::getpid();
  try {
    threads.reserve(static_cast<std::size_t>(count));
    while (static_cast<int>(threads.size()) < count) {
      if (Status started = start_thread(); !started) return started;
    }
    return {};
  } catch (...) {
    return tl::unexpected<Error>(caught_error());
  }
}

Status Loader::Impl::start_thread() {
  Result<SampleStages> stages = SampleStages::create({options, *source, *parts.clock});
  if (!stages) return forward_error(stages);
  const TicketRunner::Shared shared{options, *source, *parts.clock, quarantine, counters};
  // std::function wants a copy; the runner is handed over through a pointer.
  const auto runner = std::make_shared<TicketRunner>(shared, std::move(*stages));
  const auto number = static_cast<int>(threads.size());
  Result<std::jthread> thread = parts.threads->start(
      [this, runner, number](const std::stop_token& stop) { run_thread(*runner, number, stop); });
  if (!thread) return forward_error(thread);
  threads.push_back(std::move(*thread));
  return {};
}

void Loader::Impl::start_control() noexcept {
  if (control_thread.joinable() || !control->changes_anything()) return;
  try {
    Result<std::jthread> thread =
        parts.threads->start([this](const std::stop_token& stop) { run_control(stop); });
    if (thread) {
      control_thread = std::move(*thread);
    } else {
      control->note_no_control(parts.clock->now_ns(), thread.error().message);
    }
  } catch (...) {
    return;  // the next epoch tries again
  }
}

void Loader::Impl::rest() {
  const MutexLock alone(rest_mutex);
  std::vector<std::jthread> ending;
  std::jthread ending_control;
  {
    MutexLock lock(start_mutex);
    // A consumer that asks now starts the threads, which are not there to be left at work.
    if (resting) return;
    // A consumer counts itself, then looks: one of the two sees the other.
    resting = true;
    if (asking > 0) {
      resting = false;
      return;
    }
    for (std::jthread& thread : threads) thread.request_stop();
    ending.swap(threads);
    ending_control.swap(control_thread);
  }
  // Without the lock: the thread that decides may wait for it.
  ending_control = std::jthread();
  ending.clear();
  MutexLock lock(start_mutex);
  if (!resting) return;  // a consumer came meanwhile, and the threads are others
  if (const std::shared_ptr<BatchWindow> current = current_window()) current->forget_ready();
  pool->release_free();
}

Status Loader::Impl::wake() {
  MutexLock lock(start_mutex);
  if (!resting) return {};
  if (Status started = start_threads(gate->open()); !started) return started;
  start_control();
  resting = false;
  return {};
}

/// A thread that waits at the gate has no window: it would keep the batches of an epoch that was
/// left.
void Loader::Impl::run_thread(TicketRunner& runner, int number, const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "unstarve-feed");
  std::uint64_t seen = 0;
  while (gate->pass(number, stop)) {
    const std::shared_ptr<BatchWindow> current = post.wait_newer(seen, stop);
    if (current == nullptr) return;
    try {
      while (gate->lets_pass(number)) {
        const std::optional<Ticket> ticket = current->claim(stop);
        if (!ticket) break;
        runner.run(*ticket, *current);
        measure_when_due();
      }
    } catch (...) {
      current->fail(caught_error());
    }
    if (!gate->lets_pass(number)) seen = 0;  // it goes on with the latest when it may
  }
}

ControlTotals Loader::Impl::totals() const {
  ControlTotals totals;
  const ConsumerTimes::Sums consumed = consumers.sums();
  totals.consumer_busy_ns = consumed.busy_ns;
  totals.consumer_images = consumed.images;
  totals.loaded_images = counters.images.load(std::memory_order_relaxed);
  totals.load_ns = counters.load_ns.load(std::memory_order_relaxed);
  totals.load_cpu_ns = counters.load_cpu_ns.load(std::memory_order_relaxed);
  MutexLock lock(mutex);
  totals.consumer_wait_ns = past_consumer_wait_ns;
  if (window != nullptr) totals.consumer_wait_ns += window->waits().next_blocked_ns;
  return totals;
}

void Loader::Impl::measure_when_due() {
  const std::int64_t now_ns = parts.clock->now_ns();
  if (control->due(now_ns)) control->post({totals(), now_ns});
}

void Loader::Impl::run_control(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "unstarve-control");
  while (const std::optional<ControlSample> sample = control->take(stop)) {
    try {
      control_with(*sample);
    } catch (...) {
      continue;  // no memory for a reason: the loader goes on as it is
    }
  }
}

void Loader::Impl::control_with(const ControlSample& sample) {
  const std::optional<LiveControl::Targets> targets = control->step(sample.totals, sample.now_ns);
  if (!targets) return;
  ahead = targets->prefetch;
  if (const std::shared_ptr<BatchWindow> current = current_window()) {
    current->set_ahead(targets->prefetch);
  }
  MutexLock lock(start_mutex);
  if (closing || resting) return;
  const Status started = start_threads(targets->threads);
  gate->set_open(targets->threads);
  if (started) return;
  control->note_thread_failure(static_cast<int>(threads.size()), sample.now_ns,
                               started.error().message);
}

Result<NextBatch> Loader::Impl::next(std::chrono::nanoseconds at_most) {
  const std::shared_ptr<BatchWindow> current = current_window();
  if (current == nullptr) return NextBatch{NextState::kEnd, std::nullopt};
  if (resting) {
    if (Status woken = wake(); !woken) return forward_error(woken);
  }
  Result<NextBatch> result = next(*current, at_most);
  measure_when_due();
  return result;
}

Result<NextBatch> Loader::Impl::next(BatchWindow& current, std::chrono::nanoseconds at_most) {
  consumers.ask(parts.clock->now_ns());
  Result<NextBatch> next;
  try {
    next = current.next(at_most);
  } catch (...) {
    next = tl::unexpected<Error>(caught_error());
  }
  const bool got = next && next->state == NextState::kBatch;
  if (got) LoaderCounters::increment(counters.batches);
  consumers.answer(parts.clock->now_ns(), got ? static_cast<std::uint64_t>(next->batch->count) : 0);
  return next;
}

}  // namespace unstarve::feed
