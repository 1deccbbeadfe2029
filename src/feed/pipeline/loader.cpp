#include "feed/pipeline/loader.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <utility>

#include "feed/pipeline/control/live_control.h"
#include "feed/pipeline/control/thread_gate.h"
#include "feed/pipeline/epoch_post.h"
#include "feed/pipeline/loader_counters.h"
#include "feed/pipeline/open_source.h"
#include "feed/pipeline/order/generated_order.h"
#include "feed/pipeline/order/submitted_order.h"
#include "feed/pipeline/sample_worker.h"
#include "feed/pipeline/ticket_runner.h"
#include "feed/transform/sample_transform.h"

namespace unstarve::feed {
namespace {

// Batches ahead of the consumer to begin with, and at most, where nothing says how many.
constexpr int kUsualPrefetch = 4;
constexpr std::int64_t kMostPrefetch = 256;

Status check_sample_count(std::uint64_t count) {
  if (count < std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(ErrorCode::kNotSupported, "{} samples are more than 2^32 - 2", count);
}

}  // namespace

struct Loader::Impl {
  LoaderOptions options;
  LoaderParts parts;
  std::shared_ptr<SampleSource> source;
  std::shared_ptr<BatchPool> pool;
  int most_ahead = 1;         // batches that the memory holds beside the consumer's
  std::atomic<int> ahead{1};  // of them: to be used now
  mutable Mutex mutex;
  std::shared_ptr<BatchWindow> window UNSTARVE_GUARDED_BY(mutex);    // of the consumer's epoch
  LoaderState resume UNSTARVE_GUARDED_BY(mutex);                     // where no window is
  bool restored UNSTARVE_GUARDED_BY(mutex) = false;                  // by restore(), no epoch since
  std::int64_t past_threads_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;  // of the windows before
  std::int64_t past_consumer_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;
  LoaderCounters counters;
  Quarantine quarantine;
  EpochPost post;
  std::atomic<std::int64_t> delivered_ns{0};       // when the consumer got a batch; 0: it waits
  std::atomic<std::uint64_t> delivered_images{0};  // and the images in it
  std::unique_ptr<LiveControl> control;
  std::unique_ptr<ThreadGate> gate;
  std::atomic<pid_t> owner{0};  // the process that has the threads
  Mutex start_mutex;            // held while an epoch begins or threads start
  bool closing UNSTARVE_GUARDED_BY(start_mutex) = false;
  // Last: they use all of the above.
  std::vector<std::jthread> threads UNSTARVE_GUARDED_BY(start_mutex);

  void set_up_control();
  Status start_threads(int count) UNSTARVE_REQUIRES(start_mutex);
  Status check_process() const;
  LoaderState::Order generated_kind() const;
  /// Where an epoch begins: where restore() said, or at its first sample.
  EpochPosition start_of(std::uint32_t epoch, LoaderState::Order order) UNSTARVE_EXCLUDES(mutex);
  /// Ends the epoch under way and begins that of `order`.
  Status begin(std::unique_ptr<BatchOrder> order, const EpochPosition& start,
               LoaderState::Order kind) UNSTARVE_REQUIRES(start_mutex);
  /// Ends the epoch under way, if there is one, and makes `next` the consumer's.
  void replace_window(std::shared_ptr<BatchWindow> next) UNSTARVE_EXCLUDES(mutex);
  std::shared_ptr<BatchWindow> current_window() const UNSTARVE_EXCLUDES(mutex);
  Result<std::shared_ptr<BatchWindow>> submitted_window() const UNSTARVE_EXCLUDES(mutex);
  void run_thread(TicketRunner& runner, int number, const std::stop_token& stop);
  Result<NextBatch> next(BatchWindow& current, std::chrono::nanoseconds at_most);
  /// Lets the controller decide when it is time to.
  void control_when_due() UNSTARVE_EXCLUDES(mutex, start_mutex);
  ControlTotals totals() const UNSTARVE_EXCLUDES(mutex);
};

Loader::Loader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Loader::~Loader() {
  if (!impl_->check_process()) {
    // A forked child: the threads are not there to be joined, and whatever they had locked stays
    // locked. The memory belongs to the child's copy and goes with it.
    (void)impl_.release();
    return;
  }
  {
    MutexLock lock(impl_->start_mutex);
    impl_->closing = true;
    for (std::jthread& thread : impl_->threads) thread.request_stop();
  }
  impl_->replace_window(nullptr);
}

Result<std::unique_ptr<Loader>> Loader::open(const LoaderOptions& options,
                                             const LoaderParts& parts) {
  if (Status status = validate(options); !status) return forward_error(status);  // before it lists
  Result<std::shared_ptr<SampleSource>> source = open_source(options, parts.reader);
  if (!source) return forward_error(source);
  return open(options, std::move(*source), parts);
}

Result<std::unique_ptr<Loader>> Loader::open(const LoaderOptions& options,
                                             std::shared_ptr<SampleSource> source,
                                             const LoaderParts& parts) {
  if (Status status = validate(options); !status) return forward_error(status);
  if (Status status = check_sample_count(source->size()); !status) return forward_error(status);
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->parts = parts;
  impl->source = std::move(source);
  const OutputPlan& output = options.transform.output;
  const ImageSize size = options.transform.geometry.size;
  const BatchShape shape{options.batch_size, size.height, size.width, output.type, output.layout};
  const auto slots = options.memory_bytes / static_cast<std::int64_t>(shape.slot_bytes());
  // One slot more than are under way: that of the batch that the consumer works on.
  impl->most_ahead = static_cast<int>(std::clamp<std::int64_t>(slots - 1, 1, kMostPrefetch));
  if (options.prefetch_batches > 0) {
    impl->most_ahead = std::min(impl->most_ahead, options.prefetch_batches);
  }
  impl->pool =
      BatchPool::create(shape, static_cast<std::size_t>(impl->most_ahead) + 1, parts.memory);
  impl->set_up_control();
  {
    MutexLock lock(impl->mutex);
    impl->resume.seed = options.seed;
    impl->resume.order = impl->generated_kind();
    impl->resume.samples = impl->source->size();
    impl->resume.fingerprint = impl->source->fingerprint();
  }
  return std::unique_ptr<Loader>(new Loader(std::move(impl)));
}

Status Loader::Impl::check_process() const {
  const pid_t process = owner.load();
  if (process == 0 || process == ::getpid()) return {};
  return fail(ErrorCode::kNotSupported,
              "this loader's threads live in process {}, which forked: open the loader in the "
              "child instead",
              process);
}

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

Status Loader::Impl::start_threads(int count) {
  owner = ::getpid();
  while (static_cast<int>(threads.size()) < count) {
    Result<SampleWorker> worker = SampleWorker::create({options, *source, *parts.clock});
    if (!worker) return forward_error(worker);
    const TicketRunner::Parts runner_parts{options, *source, *parts.clock, quarantine, counters};
    // std::function wants a copy; the runner is handed over through a pointer.
    const auto runner = std::make_shared<TicketRunner>(runner_parts, std::move(*worker));
    const auto number = static_cast<int>(threads.size());
    Result<std::jthread> thread = parts.threads->start(
        [this, runner, number](const std::stop_token& stop) { run_thread(*runner, number, stop); });
    if (!thread) return forward_error(thread);
    threads.push_back(std::move(*thread));
  }
  return {};
}

void Loader::Impl::replace_window(std::shared_ptr<BatchWindow> next) {
  MutexLock lock(mutex);
  if (window != nullptr) {
    window->cancel();
    const BatchWindow::Waits waits = window->waits();
    past_threads_wait_ns += waits.claim_blocked_ns;
    past_consumer_wait_ns += waits.next_blocked_ns;
    resume.position = window->position();
  }
  window = std::move(next);
}

std::shared_ptr<BatchWindow> Loader::Impl::current_window() const {
  MutexLock lock(mutex);
  return window;
}

LoaderState::Order Loader::Impl::generated_kind() const {
  return options.shuffle ? LoaderState::Order::kShuffled : LoaderState::Order::kSequential;
}

EpochPosition Loader::Impl::start_of(std::uint32_t epoch, LoaderState::Order order) {
  MutexLock lock(mutex);
  const bool goes_on = restored && resume.order == order && resume.position.epoch == epoch;
  return goes_on ? resume.position : EpochPosition{epoch, 0, 0};
}

Status Loader::Impl::begin(std::unique_ptr<BatchOrder> order, const EpochPosition& start,
                           LoaderState::Order kind) {
  const auto next = std::make_shared<BatchWindow>(
      BatchWindow::Setup{std::move(order), start, most_ahead, most_ahead, pool, *parts.clock});
  replace_window(nullptr);
  if (Status status = start_threads(gate->open()); !status) return status;
  replace_window(next);
  {
    MutexLock lock(mutex);
    resume.order = kind;
    restored = false;
  }
  post.announce(next);
  return {};
}

Status Loader::begin_epoch(std::uint32_t epoch) {
  Impl& impl = *impl_;
  if (Status status = impl.check_process(); !status) return status;
  MutexLock lock(impl.start_mutex);
  const std::shared_ptr<BatchWindow> running = impl.current_window();
  if (running != nullptr && running->advance_to(epoch)) return {};
  const LoaderState::Order kind = impl.generated_kind();
  GeneratedOrder::Settings settings =
      GeneratedOrder::settings_of(impl.options, impl.source->size());
  settings.start = impl.start_of(epoch, kind);
  return impl.begin(std::make_unique<GeneratedOrder>(settings), settings.start, kind);
}

Status Loader::begin_submitted_epoch(std::uint32_t epoch) {
  Impl& impl = *impl_;
  if (Status status = impl.check_process(); !status) return status;
  MutexLock lock(impl.start_mutex);
  const LoaderState::Order kind = LoaderState::Order::kSubmitted;
  const EpochPosition start = impl.start_of(epoch, kind);
  try {
    return impl.begin(
        std::make_unique<SubmittedOrder>(static_cast<std::uint32_t>(impl.source->size()), start),
        start, kind);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kOutOfMemory, "no memory to count how often {} samples are submitted",
                impl.source->size());
  }
}

Result<std::shared_ptr<BatchWindow>> Loader::Impl::submitted_window() const {
  if (Status status = check_process(); !status) return forward_error(status);
  std::shared_ptr<BatchWindow> running = current_window();
  if (running != nullptr) return running;
  return fail(ErrorCode::kInvalidArgument,
              "no epoch has begun: call begin_submitted_epoch() before batches are submitted");
}

Status Loader::submit_batch(std::span<const std::uint64_t> indices) {
  const Result<std::shared_ptr<BatchWindow>> window = impl_->submitted_window();
  return window ? (*window)->submit(indices) : Status(forward_error(window));
}

Status Loader::skip_batch(std::span<const std::uint64_t> indices) {
  const Result<std::shared_ptr<BatchWindow>> window = impl_->submitted_window();
  return window ? (*window)->skip(indices) : Status(forward_error(window));
}

Status Loader::finish_submitting() {
  const Result<std::shared_ptr<BatchWindow>> window = impl_->submitted_window();
  return window ? (*window)->finish_submitting() : Status(forward_error(window));
}

std::uint64_t Loader::wanted_batches() const {
  const Result<std::shared_ptr<BatchWindow>> window = impl_->submitted_window();
  return window ? (*window)->wanted_batches() : 0;
}

void Loader::Impl::run_thread(TicketRunner& runner, int number, const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "unstarve-feed");
  std::uint64_t seen = 0;
  while (const std::shared_ptr<BatchWindow> current = post.wait_newer(seen, stop)) {
    while (gate->pass(number, stop)) {
      const std::optional<Ticket> ticket = current->claim(stop);
      if (!ticket) break;
      runner.run(*ticket, *current, stop);
      control_when_due();
    }
  }
}

ControlTotals Loader::Impl::totals() const {
  ControlTotals totals;
  totals.consumer_busy_ns = counters.consumer_busy_ns.load(std::memory_order_relaxed);
  totals.consumer_images = counters.consumer_images.load(std::memory_order_relaxed);
  totals.loaded_images = counters.images.load(std::memory_order_relaxed);
  totals.load_ns = counters.load_ns.load(std::memory_order_relaxed);
  totals.load_cpu_ns = counters.load_cpu_ns.load(std::memory_order_relaxed);
  MutexLock lock(mutex);
  totals.consumer_wait_ns = past_consumer_wait_ns;
  if (window != nullptr) totals.consumer_wait_ns += window->waits().next_blocked_ns;
  return totals;
}

void Loader::Impl::control_when_due() {
  const std::int64_t now_ns = parts.clock->now_ns();
  if (!control->due(now_ns)) return;
  const std::optional<LiveControl::Targets> targets = control->step(totals(), now_ns);
  if (!targets) return;
  ahead = targets->prefetch;
  if (const std::shared_ptr<BatchWindow> current = current_window()) {
    current->set_ahead(targets->prefetch);
  }
  MutexLock lock(start_mutex);
  if (closing) return;
  if (const Status started = start_threads(targets->threads); !started) {
    control->note_thread_failure(static_cast<int>(threads.size()), now_ns, started.error().message);
  }
  gate->set_open(targets->threads);
}

Result<NextBatch> Loader::Impl::next(BatchWindow& current, std::chrono::nanoseconds at_most) {
  const std::int64_t delivered = delivered_ns.exchange(0, std::memory_order_relaxed);
  if (delivered != 0) {
    counters.consumer_busy_ns.fetch_add(parts.clock->now_ns() - delivered,
                                        std::memory_order_relaxed);
    counters.consumer_images.fetch_add(delivered_images.load(std::memory_order_relaxed),
                                       std::memory_order_relaxed);
  }
  Result<NextBatch> next = current.next(at_most);
  if (next && next->state == NextState::kBatch) {
    LoaderCounters::increment(counters.batches);
    delivered_images.store(static_cast<std::uint64_t>(next->batch->count),
                           std::memory_order_relaxed);
    delivered_ns.store(parts.clock->now_ns(), std::memory_order_relaxed);
  }
  return next;
}

Result<NextBatch> Loader::next(std::chrono::nanoseconds at_most) {
  if (Status status = impl_->check_process(); !status) return forward_error(status);
  const std::shared_ptr<BatchWindow> window = impl_->current_window();
  if (window == nullptr) return NextBatch{NextState::kEnd, std::nullopt};
  Result<NextBatch> next = impl_->next(*window, at_most);
  impl_->control_when_due();
  return next;
}

LoaderState Loader::state() const {
  LoaderState state;
  {
    MutexLock lock(impl_->mutex);
    state = impl_->resume;
    if (impl_->window != nullptr) state.position = impl_->window->position();
  }
  state.bad = impl_->quarantine.bad();
  return state;
}

Status Loader::restore(const LoaderState& state) {
  Impl& impl = *impl_;
  if (Status status = impl.check_process(); !status) return status;
  LoaderState own;
  {
    MutexLock lock(impl.mutex);
    own = impl.resume;
  }
  own.order = impl.generated_kind();
  if (Status status = check_restorable(state, own); !status) return status;
  MutexLock lock(impl.start_mutex);
  impl.replace_window(nullptr);
  impl.quarantine.restore(state.bad);
  MutexLock state_lock(impl.mutex);
  impl.resume = state;
  impl.restored = true;
  return {};
}

std::uint64_t Loader::sample_count() const { return impl_->source->size(); }

std::uint64_t Loader::batch_count() const {
  return GeneratedOrder::batches_left(
      GeneratedOrder::settings_of(impl_->options, impl_->source->size()), 0);
}

const std::vector<std::string>& Loader::classes() const { return impl_->source->classes(); }
const LoaderOptions& Loader::options() const { return impl_->options; }
int Loader::thread_count() const { return impl_->gate->open(); }
std::vector<ControlMove> Loader::explain() const { return impl_->control->moves(); }
std::vector<SampleFailure> Loader::failures() const { return impl_->quarantine.list(); }

LoaderStats Loader::stats() const {
  const LoaderCounters& counters = impl_->counters;
  LoaderStats stats;
  stats.images = counters.images.load(std::memory_order_relaxed);
  stats.batches = counters.batches.load(std::memory_order_relaxed);
  stats.bytes_read =
      static_cast<std::uint64_t>(counters.bytes_read.load(std::memory_order_relaxed));
  stats.read_ns = counters.read_ns.load(std::memory_order_relaxed);
  stats.decode_ns = counters.decode_ns.load(std::memory_order_relaxed);
  stats.resize_ns = counters.resize_ns.load(std::memory_order_relaxed);
  stats.replaced = counters.replaced.load(std::memory_order_relaxed);
  stats.left_out = counters.left_out.load(std::memory_order_relaxed);
  stats.retries = counters.retries.load(std::memory_order_relaxed);
  stats.failed = impl_->quarantine.failures();
  {
    MutexLock lock(impl_->mutex);
    stats.threads_wait_ns = impl_->past_threads_wait_ns;
    stats.consumer_wait_ns = impl_->past_consumer_wait_ns;
    if (impl_->window != nullptr) {
      const BatchWindow::Waits waits = impl_->window->waits();
      stats.threads_wait_ns += waits.claim_blocked_ns;
      stats.consumer_wait_ns += waits.next_blocked_ns;
    }
  }
  stats.slots_allocated = impl_->pool->allocations();
  stats.threads = impl_->gate->open();
  return stats;
}

}  // namespace unstarve::feed
