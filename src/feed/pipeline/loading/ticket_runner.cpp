#include "feed/pipeline/loading/ticket_runner.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace unstarve::feed {
namespace {

// The sample itself and others that are drawn in its place.
constexpr std::uint32_t kRandomAttempts = 16;
static_assert(kRandomAttempts <= 1U << kRepeatShift);

// The first wait before a read is tried again; each further one is four times as long, up to a
// second: four retries, the usual number, take 1.4 s, the most that can be asked for 13.4 s.
constexpr std::int64_t kFirstWaitNs = 20'000'000;
constexpr std::int64_t kLongestWaitNs = 1'000'000'000;

/// Failures of the moment, of a disk or of a file system behind a network.
bool may_pass(int os_errno) {
  constexpr std::array kPassing = {EIO,       EINTR,        EAGAIN,       ESTALE,    ETIMEDOUT,
                                   EBUSY,     ECONNRESET,   ECONNABORTED, ENETDOWN,  ENETUNREACH,
                                   ENETRESET, EHOSTUNREACH, EHOSTDOWN,    EREMOTEIO, EMFILE,
                                   ENFILE,    ENOBUFS};
  return std::find(kPassing.begin(), kPassing.end(), os_errno) != kPassing.end();
}

}  // namespace

TicketRunner::TicketRunner(const Shared& shared, SampleStages stages)
    : shared_(shared), stages_(std::move(stages)) {}

Status TicketRunner::load(const DrawKey& key, std::uint8_t* image, const std::stop_token& stop) {
  const bool raises = shared_.options.on_error == OnError::kRaise;
  if (!raises && shared_.quarantine.holds(key.index)) {
    return fail(ErrorCode::kCorruptData, "{}: could not be loaded before",
                shared_.source.locate(key.index));
  }
  std::int64_t wait_ns = kFirstWaitNs;
  for (int retry = 0;; ++retry) {
    SampleCost cost;
    Status status = stages_.load(key, image, cost);
    shared_.counters.add(cost);
    read_ahead_.note_read(cost.read_ns);
    if (status) return status;
    if (retry == shared_.options.read_retries || !may_pass(status.error().os_errno)) {
      note_failure(key, status.error());
      return status;
    }
    LoaderCounters::increment(shared_.counters.retries);
    if (!shared_.clock.sleep_until_ns(shared_.clock.now_ns() + wait_ns, stop)) return status;
    wait_ns = std::min(4 * wait_ns, kLongestWaitNs);
  }
}

void TicketRunner::note_failure(const DrawKey& key, const Error& error) {
  if (shared_.options.on_error != OnError::kRaise && is_of_the_sample(error.code)) {
    shared_.quarantine.add_bad(key.index, key.epoch, error.message);
  } else {
    shared_.quarantine.add_failure(key.index, key.epoch, error.message);
  }
}

void TicketRunner::run(const Ticket& ticket, BatchWindow& window) noexcept {
  const std::int64_t begun_ns = shared_.clock.now_ns();
  const std::int64_t cpu_begun_ns = thread_cpu_time_ns();
  try {
    announce(ticket);
    load_and_finish(ticket, window);
  } catch (...) {
    window.finish(ticket, caught_error());  // it is not: finish(), which comes last, throws nothing
  }
  LoaderCounters& counters = shared_.counters;
  counters.load_cpu_ns.fetch_add(thread_cpu_time_ns() - cpu_begun_ns, std::memory_order_relaxed);
  counters.load_ns.fetch_add(shared_.clock.now_ns() - begun_ns, std::memory_order_relaxed);
}

void TicketRunner::announce(const Ticket& ticket) {
  if (!shared_.options.read_ahead || !read_ahead_.wanted() || !ticket.later) return;
  const std::int64_t begun_ns = shared_.clock.now_ns();
  const ReadHint hint = stages_.hint(*ticket.later);
  read_ahead_.note_hint(hint, shared_.clock.now_ns() - begun_ns);
  if (hint != ReadHint::kNone) LoaderCounters::increment(shared_.counters.hints);
}

/// A broken sample's replacement may be broken as well, and in a small data set most may be: after
/// some at random, each one behind the last is tried, until one is sound or none was.
Status TicketRunner::replace(const Ticket& ticket, Status status, DrawKey& key,
                             const std::stop_token& stop) {
  const auto count = static_cast<std::uint32_t>(shared_.source.size());
  const std::uint32_t repeat = key.attempt;
  for (std::uint32_t attempt = 1; !status && attempt < kRandomAttempts; ++attempt) {
    key.index = replacement_index({key.seed, key.epoch, ticket.sample.index, key.attempt}, count);
    key.attempt = repeat + attempt;
    status = load(key, ticket.image, stop);
  }
  for (std::uint32_t step = 0; !status && step < count; ++step) {
    // Where a device fails, all samples would, each after its retries.
    if (!is_of_the_sample(status.error().code) || stop.stop_requested()) break;
    key.index = (key.index + 1) % count;
    status = load(key, ticket.image, stop);
  }
  if (status) LoaderCounters::increment(shared_.counters.replaced);
  return status;
}

void TicketRunner::load_and_finish(const Ticket& ticket, BatchWindow& window) {
  const std::stop_token stop = window.cancellation();
  const LoaderOptions& options = shared_.options;
  DrawKey key{options.seed, ticket.epoch, ticket.sample.index,
              ticket.sample.repeat << kRepeatShift};
  Status status = load(key, ticket.image, stop);
  if (!status && options.on_error == OnError::kSkip) {
    LoaderCounters::increment(shared_.counters.left_out);
    return window.finish(ticket, BatchWindow::Outcome::kLeftOut);
  }
  if (!status && options.on_error == OnError::kReplace) {
    status = replace(ticket, std::move(status), key, stop);
  }
  if (!status) return window.finish(ticket, status.error());
  *ticket.label = shared_.source.label(key.index);
  LoaderCounters::increment(shared_.counters.images);
  window.finish(ticket, BatchWindow::Outcome::kLoaded);
}

}  // namespace unstarve::feed
