#include "feed/pipeline/ticket_runner.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace unstarve::feed {
namespace {

// A broken sample's replacement may be broken as well; after so many the data set is at fault.
constexpr std::uint32_t kMaxAttempts = 16;
static_assert(kMaxAttempts <= 1U << kRepeatShift);

// The first wait before a read is tried again; each further one is four times as long.
constexpr std::int64_t kFirstWaitNs = 20'000'000;

/// Failures of the moment, of a disk or of a file system behind a network.
bool may_pass(int os_errno) {
  constexpr std::array kPassing = {EIO,       EINTR,        EAGAIN,       ESTALE,    ETIMEDOUT,
                                   EBUSY,     ECONNRESET,   ECONNABORTED, ENETDOWN,  ENETUNREACH,
                                   ENETRESET, EHOSTUNREACH, EHOSTDOWN,    EREMOTEIO, EMFILE,
                                   ENFILE,    ENOBUFS};
  return std::find(kPassing.begin(), kPassing.end(), os_errno) != kPassing.end();
}

/// Whether the sample itself is at fault, so that it would fail at any time.
bool is_of_the_sample(ErrorCode code) {
  return code == ErrorCode::kCorruptData || code == ErrorCode::kNotSupported ||
         code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
}

}  // namespace

TicketRunner::TicketRunner(const Parts& parts, SampleWorker worker)
    : parts_(parts), worker_(std::move(worker)) {}

Status TicketRunner::load(const DrawKey& key, std::uint8_t* image, const std::stop_token& stop) {
  const bool raises = parts_.options.on_error == OnError::kRaise;
  if (!raises && parts_.quarantine.holds(key.index)) {
    return fail(ErrorCode::kCorruptData, "{}: could not be loaded before",
                parts_.source.locate(key.index));
  }
  std::int64_t wait_ns = kFirstWaitNs;
  for (int retry = 0;; ++retry) {
    SampleCost cost;
    Status status = worker_.load(key, image, cost);
    parts_.counters.add(cost);
    read_ahead_.note_read(cost.read_ns);
    if (status) return status;
    if (retry == parts_.options.read_retries || !may_pass(status.error().os_errno) ||
        stop.stop_requested()) {
      note_failure(key, status.error());
      return status;
    }
    LoaderCounters::increment(parts_.counters.retries);
    parts_.clock.sleep_until_ns(parts_.clock.now_ns() + wait_ns);
    wait_ns *= 4;
  }
}

void TicketRunner::note_failure(const DrawKey& key, const Error& error) {
  parts_.quarantine.add_failure({key.index, key.epoch, error.message});
  if (parts_.options.on_error == OnError::kRaise) return;
  if (is_of_the_sample(error.code)) parts_.quarantine.lock_away(key.index);
}

void TicketRunner::run(const Ticket& ticket, BatchWindow& window, const std::stop_token& stop) {
  const std::int64_t begun_ns = parts_.clock.now_ns();
  const std::int64_t cpu_begun_ns = thread_cpu_time_ns();
  announce(ticket);
  load_and_finish(ticket, window, stop);
  LoaderCounters& counters = parts_.counters;
  counters.load_cpu_ns.fetch_add(thread_cpu_time_ns() - cpu_begun_ns, std::memory_order_relaxed);
  counters.load_ns.fetch_add(parts_.clock.now_ns() - begun_ns, std::memory_order_relaxed);
}

void TicketRunner::announce(const Ticket& ticket) {
  if (!parts_.options.read_ahead || !read_ahead_.wanted() || !ticket.later) return;
  const ReadHint hint = worker_.hint(*ticket.later);
  read_ahead_.note_hint(hint);
  if (hint != ReadHint::kNone) LoaderCounters::increment(parts_.counters.hints);
}

void TicketRunner::load_and_finish(const Ticket& ticket, BatchWindow& window,
                                   const std::stop_token& stop) {
  const LoaderOptions& options = parts_.options;
  const std::uint32_t repeat = ticket.sample.repeat << kRepeatShift;
  DrawKey key{options.seed, ticket.epoch, ticket.sample.index, repeat};
  for (std::uint32_t attempt = 0;; ++attempt) {
    key.attempt = repeat + attempt;
    const Status status = load(key, ticket.image, stop);
    if (status) break;
    if (options.on_error == OnError::kSkip) {
      LoaderCounters::increment(parts_.counters.left_out);
      return window.finish(ticket, BatchWindow::Outcome::kLeftOut);
    }
    if (options.on_error == OnError::kRaise || attempt + 1 == kMaxAttempts) {
      return window.finish(ticket, status.error());
    }
    key.index = replacement_index({options.seed, ticket.epoch, ticket.sample.index, key.attempt},
                                  static_cast<std::uint32_t>(parts_.source.size()));
  }
  *ticket.label = parts_.source.label(key.index);
  if (key.attempt > repeat) LoaderCounters::increment(parts_.counters.replaced);
  LoaderCounters::increment(parts_.counters.images);
  window.finish(ticket, BatchWindow::Outcome::kLoaded);
}

}  // namespace unstarve::feed
