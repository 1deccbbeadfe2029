#include "feed/pipeline/loader.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <system_error>
#include <utility>

#include "feed/pipeline/epoch_post.h"
#include "feed/pipeline/failure_log.h"
#include "feed/pipeline/open_source.h"
#include "feed/pipeline/sample_worker.h"
#include "host/effective_cpus.h"

namespace unstarve::feed {
namespace {

// A broken sample's replacement may be broken as well; after so many the data set is at fault.
constexpr std::uint32_t kMaxAttempts = 16;

/// Sums over all threads. Relaxed: each is read on its own, and none guards other memory.
struct Counters {
  std::atomic<std::uint64_t> images{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::int64_t> bytes_read{0};
  std::atomic<std::int64_t> read_ns{0};
  std::atomic<std::int64_t> decode_ns{0};
  std::atomic<std::int64_t> resize_ns{0};
  std::atomic<std::uint64_t> replaced{0};
  std::atomic<std::uint64_t> left_out{0};

  void add(const SampleCost& cost) {
    bytes_read.fetch_add(cost.bytes, std::memory_order_relaxed);
    read_ns.fetch_add(cost.read_ns, std::memory_order_relaxed);
    decode_ns.fetch_add(cost.decode_ns, std::memory_order_relaxed);
    resize_ns.fetch_add(cost.resize_ns, std::memory_order_relaxed);
  }
};

Status check_sample_count(std::uint64_t count) {
  if (count < std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(ErrorCode::kNotSupported, "{} samples are more than 2^32 - 2", count);
}

}  // namespace

int usable_cpu_count() {
  const Result<host::EffectiveCpus> cpus = host::effective_cpus(host::HostFiles());
  if (cpus) return static_cast<int>(cpus->count);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<std::jthread> ThreadStarter::start(std::function<void(std::stop_token)> body) {
  try {
    return std::jthread(std::move(body));
  } catch (const std::system_error& error) {
    return fail_errno(error.code().value(), "cannot start a loading thread");
  }
}

LoaderParts LoaderParts::real() {
  return {std::make_shared<PlainFileReader>(), std::make_shared<PageableMemory>(),
          std::make_shared<ThreadStarter>(), std::make_shared<SteadyClock>()};
}

struct Loader::Impl {
  LoaderOptions options;
  LoaderParts parts;
  std::shared_ptr<SampleSource> source;
  std::shared_ptr<BatchPool> pool;
  mutable Mutex mutex;
  std::shared_ptr<BatchWindow> window UNSTARVE_GUARDED_BY(mutex);    // of the consumer's epoch
  std::int64_t past_threads_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;  // of the epochs before
  std::int64_t past_consumer_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;
  Counters counters;
  FailureLog failures;
  EpochPost post;
  std::atomic<pid_t> owner{0};  // the process that has the threads
  Mutex start_mutex;            // held while an epoch begins
  // Last: they use all of the above.
  std::vector<std::jthread> threads UNSTARVE_GUARDED_BY(start_mutex);

  Status start_threads() UNSTARVE_REQUIRES(start_mutex);
  Status check_process() const;
  /// Ends the epoch under way, if there is one, and makes `next` the consumer's.
  void replace_window(std::shared_ptr<BatchWindow> next) UNSTARVE_EXCLUDES(mutex);
  std::shared_ptr<BatchWindow> current_window() const UNSTARVE_EXCLUDES(mutex);
  void run_thread(SampleWorker worker, const std::stop_token& stop);
  void load_sample(SampleWorker& worker, const EpochPost::Epoch& epoch, const Ticket& ticket);
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
  if (options.threads == 0) impl->options.threads = usable_cpu_count();
  if (Status status = SampleTransform::check(options.transform); !status) {
    return forward_error(status);
  }
  const OutputPlan& output = options.transform.output;
  const ImageSize size = options.transform.geometry.size;
  // One batch more than are under way: the one that the consumer works on.
  impl->pool =
      BatchPool::create({options.batch_size, size.height, size.width, output.type, output.layout},
                        static_cast<std::size_t>(options.prefetch_batches) + 1, parts.memory);
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

Status Loader::Impl::start_threads() {
  owner = ::getpid();
  while (static_cast<int>(threads.size()) < options.threads) {
    Result<SampleWorker> worker = SampleWorker::create({options, *source, *parts.clock});
    if (!worker) return forward_error(worker);
    // std::function wants a copy; the worker is handed over through a pointer.
    auto shared = std::make_shared<SampleWorker>(std::move(*worker));
    Result<std::jthread> thread = parts.threads->start(
        [this, shared](const std::stop_token& stop) { run_thread(std::move(*shared), stop); });
    if (!thread) return forward_error(thread);
    threads.push_back(std::move(*thread));
  }
  return {};
}

void Loader::Impl::replace_window(std::shared_ptr<BatchWindow> next) {
  MutexLock lock(mutex);
  if (window != nullptr) {
    window->cancel();
    past_threads_wait_ns += window->claim_blocked_ns();
    past_consumer_wait_ns += window->next_blocked_ns();
  }
  window = std::move(next);
}

std::shared_ptr<BatchWindow> Loader::Impl::current_window() const {
  MutexLock lock(mutex);
  return window;
}

Status Loader::begin_epoch(std::uint32_t epoch) {
  Impl& impl = *impl_;
  if (Status status = impl.check_process(); !status) return status;
  MutexLock lock(impl.start_mutex);
  impl.replace_window(nullptr);
  const auto count = static_cast<std::uint32_t>(impl.source->size());
  std::vector<std::uint32_t> order(count);
  if (impl.options.shuffle) {
    order = shuffled_order(count, impl.options.seed, epoch);
  } else {
    for (std::uint32_t index = 0; index < count; ++index) order[index] = index;
  }
  const auto window = std::make_shared<BatchWindow>(BatchWindow::Setup{
      std::move(order), impl.options.drop_last,
      static_cast<std::uint64_t>(impl.options.prefetch_batches), impl.pool, *impl.parts.clock});
  if (Status status = impl.start_threads(); !status) return status;
  impl.replace_window(window);
  impl.post.announce({window, epoch});
  return {};
}

void Loader::Impl::run_thread(SampleWorker worker, const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "unstarve-feed");
  std::uint64_t seen = 0;
  while (const std::optional<EpochPost::Epoch> epoch = post.wait_newer(seen, stop)) {
    while (const std::optional<Ticket> ticket = epoch->window->claim(stop)) {
      load_sample(worker, *epoch, *ticket);
    }
  }
}

void Loader::Impl::load_sample(SampleWorker& worker, const EpochPost::Epoch& epoch,
                               const Ticket& ticket) {
  DrawKey key{options.seed, epoch.number, ticket.index, 0};
  for (;; ++key.attempt) {
    SampleCost cost;
    const Status status = worker.load(key, ticket.image, cost);
    counters.add(cost);
    if (status) break;
    failures.add({key.index, epoch.number, status.error().message});
    if (options.on_error == OnError::kSkip) {
      counters.left_out.fetch_add(1, std::memory_order_relaxed);
      return epoch.window->finish(ticket, BatchWindow::Outcome::kLeftOut);
    }
    if (options.on_error == OnError::kRaise || key.attempt + 1 == kMaxAttempts) {
      return epoch.window->finish(ticket, status.error());
    }
    key.index = replacement_index({key.seed, key.epoch, ticket.index, key.attempt},
                                  static_cast<std::uint32_t>(source->size()));
  }
  *ticket.label = source->label(key.index);
  if (key.attempt > 0) counters.replaced.fetch_add(1, std::memory_order_relaxed);
  counters.images.fetch_add(1, std::memory_order_relaxed);
  epoch.window->finish(ticket, BatchWindow::Outcome::kLoaded);
}

Result<NextBatch> Loader::next(std::chrono::nanoseconds at_most) {
  if (Status status = impl_->check_process(); !status) return forward_error(status);
  const std::shared_ptr<BatchWindow> window = impl_->current_window();
  if (window == nullptr) return NextBatch{NextState::kEnd, std::nullopt};
  Result<NextBatch> next = window->next(at_most);
  if (next && next->state == NextState::kBatch) {
    impl_->counters.batches.fetch_add(1, std::memory_order_relaxed);
  }
  return next;
}

std::uint64_t Loader::sample_count() const { return impl_->source->size(); }

std::uint64_t Loader::batch_count() const {
  const auto batch_size = static_cast<std::uint64_t>(impl_->options.batch_size);
  const std::uint64_t samples = impl_->source->size();
  return impl_->options.drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

const std::vector<std::string>& Loader::classes() const { return impl_->source->classes(); }
const LoaderOptions& Loader::options() const { return impl_->options; }
int Loader::thread_count() const { return impl_->options.threads; }
std::vector<SampleFailure> Loader::failures() const { return impl_->failures.list(); }

LoaderStats Loader::stats() const {
  const Counters& counters = impl_->counters;
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
  stats.failed = impl_->failures.count();
  {
    MutexLock lock(impl_->mutex);
    stats.threads_wait_ns = impl_->past_threads_wait_ns;
    stats.consumer_wait_ns = impl_->past_consumer_wait_ns;
    if (impl_->window != nullptr) {
      stats.threads_wait_ns += impl_->window->claim_blocked_ns();
      stats.consumer_wait_ns += impl_->window->next_blocked_ns();
    }
  }
  stats.slots_allocated = impl_->pool->allocations();
  stats.threads = impl_->options.threads;
  return stats;
}

}  // namespace unstarve::feed
