#include "feed/pipeline/loader.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "feed/opening/open_source.h"
#include "feed/pipeline/loader_impl.h"
#include "feed/pipeline/order/generated_order.h"
#include "feed/pipeline/order/submitted_order.h"
#include "feed/transform/sample_transform.h"

namespace unstarve::feed {
namespace {

// Batches ahead of the consumer at most, where nothing says how many.
constexpr std::int64_t kMostPrefetch = 256;

Status check_sample_count(std::uint64_t count) {
  if (count < std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(ErrorCode::kNotSupported, "{} samples are more than 2^32 - 2", count);
}

}  // namespace

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
    impl_->control_thread.request_stop();
    for (std::jthread& thread : impl_->threads) thread.request_stop();
  }
  impl_->replace_window(nullptr);
}

Result<std::unique_ptr<Loader>> Loader::open(const LoaderOptions& options,
                                             const LoaderParts& parts) {
  if (Status status = validate(options); !status) return forward_error(status);  // before it lists
  Result<std::shared_ptr<SampleSource>> source = open_source(options, parts.files);
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
  if (Status status = impl->set_up_cache(); !status) return forward_error(status);
  const OutputPlan& output = options.transform.output;
  const ImageSize size = options.transform.geometry.size;
  const BatchShape shape{options.batch_size, size.height, size.width, output.type, output.layout};
  const auto slots = options.memory_bytes / static_cast<std::int64_t>(shape.slot_bytes());
  // One slot more than are under way: that of the batch that the consumer works on.
  impl->most_ahead = static_cast<int>(std::clamp<std::int64_t>(slots - 1, 1, kMostPrefetch));
  if (options.prefetch_batches > 0) {
    impl->most_ahead = std::min(impl->most_ahead, options.prefetch_batches);
  }
  const auto kept =
      static_cast<std::size_t>(impl->most_ahead) + static_cast<std::size_t>(parts.consumer_slots);
  impl->pool = BatchPool::create(shape, kept, parts.memory);
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

Status Loader::check_process() const { return impl_->check_process(); }

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
  const bool reports = options.on_error == OnError::kReport;
  const auto next = std::make_shared<BatchWindow>(BatchWindow::Setup{
      std::move(order), start, most_ahead, most_ahead, pool, *parts.clock, reports});
  next->set_reads_ahead(reads_ahead);
  replace_window(nullptr);
  if (!resting) {
    if (Status status = start_threads(gate->open()); !status) return status;
    start_control();
  }
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

Result<NextBatch> Loader::next(std::chrono::nanoseconds at_most) {
  if (Status status = impl_->check_process(); !status) return forward_error(status);
  ++impl_->asking;
  Result<NextBatch> next = impl_->next(at_most);
  --impl_->asking;
  return next;
}

std::vector<FailedRow> Loader::take_failed() {
  const std::shared_ptr<BatchWindow> window = impl_->current_window();
  return window == nullptr ? std::vector<FailedRow>() : window->take_failed();
}

void Loader::rest() {
  if (impl_->check_process()) impl_->rest();
}

void Loader::set_reads_ahead(bool reads_ahead) {
  impl_->reads_ahead = reads_ahead;
  if (const auto window = impl_->current_window()) window->set_reads_ahead(reads_ahead);
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
std::vector<std::string> Loader::left_out() const { return impl_->source->left_out(); }
const LoaderOptions& Loader::options() const { return impl_->options; }
int Loader::thread_count() const { return impl_->resting ? 0 : impl_->gate->open(); }
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
  stats.load_ns = counters.load_ns.load(std::memory_order_relaxed);
  stats.load_cpu_ns = counters.load_cpu_ns.load(std::memory_order_relaxed);
  stats.replaced = counters.replaced.load(std::memory_order_relaxed);
  stats.left_out = counters.left_out.load(std::memory_order_relaxed);
  stats.retries = counters.retries.load(std::memory_order_relaxed);
  stats.hints = counters.hints.load(std::memory_order_relaxed);
  stats.failed = impl_->quarantine.failures();
  {
    MutexLock lock(impl_->mutex);
    stats.threads_wait_ns = impl_->past_threads_wait_ns;
    stats.consumer_wait_ns = impl_->past_consumer_wait_ns;
    if (impl_->window != nullptr) {
      const BatchWindow::Waits waits = impl_->window->waits();
      stats.threads_wait_ns += waits.claim_blocked_ns;
      stats.consumer_wait_ns += waits.next_blocked_ns;
      stats.ready_batches = waits.ready;
    }
  }
  stats.slots_allocated = impl_->pool->allocations();
  stats.threads = thread_count();
  stats.control_is_due = !impl_->control->settled();
  return stats;
}

}  // namespace unstarve::feed
