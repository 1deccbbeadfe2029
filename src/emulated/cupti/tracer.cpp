#include "emulated/cupti/tracer.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace unstarve::emulated {

namespace {

using cupti::Code;
using cupti::Kind;

// Some 230 bytes each: enough for minutes of training between two calls.
constexpr std::size_t kWaitingMax = 1 << 20;
// As many as a client's buffer of some MiB holds; delivered by the thread whose call comes next.
constexpr std::size_t kDeliverAt = 1 << 14;

constexpr std::uint32_t number(Kind kind) { return static_cast<std::uint32_t>(kind); }

/// What occurs here, and what is known not to occur: no profiler's overhead; copies between GPUs
/// are records of copies.
bool is_traced(std::uint32_t kind) {
  return record_bytes(kind) != 0 || kind == number(Kind::kOverhead) || kind == cupti::kKindPeerCopy;
}

/// A client's callback that makes CUDA calls must not deliver again.
thread_local bool delivering = false;

thread_local std::array<std::vector<std::uint64_t>, cupti::kExternalKindMax + 1> external_ids;

std::vector<std::uint64_t>* external_stack(std::uint32_t kind) {
  if (kind < cupti::kExternalKindMin || kind > cupti::kExternalKindMax) return nullptr;
  return &external_ids[kind];
}

template <class Record>
Record read(const TracedRecord& traced) {
  Record record;
  std::memcpy(&record, traced.data.data(), sizeof(record));
  return record;
}

template <class Record>
void write(TracedRecord& traced, const Record& record) {
  std::memcpy(traced.data.data(), &record, sizeof(record));
}

/// Puts a record's start and end into the client's time.
template <class Record>
void convert(TracedRecord& traced, const ClientClock& clock) {
  auto record = read<Record>(traced);
  record.start_ns = clock.convert(record.start_ns);
  record.end_ns = clock.convert(record.end_ns);
  if constexpr (std::is_same_v<Record, cupti::Kernel>) {
    record.completed_ns = clock.convert(record.completed_ns);
    record.queued_ns = clock.convert(record.queued_ns);
    record.submitted_ns = clock.convert(record.submitted_ns);
  }
  write(traced, record);
}

}  // namespace

Tracer& tracer() {
  static Tracer& only = *std::make_unique<Tracer>().release();
  return only;
}

Code Tracer::enable(std::uint32_t kind, bool on) {
  if (kind == 0 || kind >= cupti::kKindCount) return Code::kInvalidKind;
  if (!is_traced(kind)) return on ? Code::kNotSupported : Code::kSuccess;
  {
    MutexLock lock(mutex_);
    if (on && kinds_.none()) first_correlation_ = 0;
    kinds_[kind] = on;
    // A kind overrides what was said of its calls before.
    if (kind == number(Kind::kRuntime) || kind == number(Kind::kDriver)) {
      const std::size_t api = kind == number(Kind::kDriver) ? 1 : 0;
      calls_on_[api].reset();
      calls_off_[api].reset();
    }
  }
  if (!on || delivering) return Code::kSuccess;
  // Clients flush only once they have handed out a buffer, so they are asked at once.
  MutexLock lock(delivery_mutex_);
  delivering = true;
  buffers_.open();
  delivering = false;
  return Code::kSuccess;
}

Code Tracer::enable_call(bool driver, std::uint32_t call, bool on) {
  if (call == 0 || call >= kCallCount) return Code::kInvalidParameter;
  MutexLock lock(mutex_);
  const bool idle = kinds_.none() && calls_on_[0].none() && calls_on_[1].none();
  if (on && idle) first_correlation_ = 0;
  const std::size_t api = driver ? 1 : 0;
  calls_on_[api][call] = on;
  calls_off_[api][call] = !on;
  return Code::kSuccess;
}

void Tracer::disable_all() {
  MutexLock lock(mutex_);
  kinds_.reset();
  calls_on_ = {};
  calls_off_ = {};
}

bool Tracer::any_enabled() {
  MutexLock lock(mutex_);
  return kinds_.any() || calls_on_[0].any() || calls_on_[1].any();
}

Code Tracer::set_callbacks(cupti::RequestBuffer request, cupti::CompleteBuffer complete) {
  if (request == nullptr || complete == nullptr) return Code::kInvalidParameter;
  MutexLock lock(delivery_mutex_);
  buffers_.give_back();
  buffers_.set_callbacks(request, complete);
  return Code::kSuccess;
}

void Tracer::set_clock(cupti::ReadTimestamp read) {
  MutexLock lock(delivery_mutex_);
  clock_.set_callback(read);
}

std::uint64_t Tracer::now() {
  MutexLock lock(delivery_mutex_);
  return clock_.now();
}

void Tracer::set_thread_id_type(std::uint32_t type) {
  MutexLock lock(mutex_);
  thread_id_type_ = type;
}

void Tracer::enable_latency(bool on) {
  MutexLock lock(mutex_);
  latency_ = on;
}

std::uint32_t Tracer::thread_id_type() {
  MutexLock lock(mutex_);
  return thread_id_type_;
}

Code Tracer::flush() {
  if (delivering) return Code::kInvalidOperation;
  flush_records();
  MutexLock lock(delivery_mutex_);
  if (!buffers_.has_callbacks()) return Code::kInvalidOperation;
  deliver();
  delivering = true;
  buffers_.give_back();
  delivering = false;
  return Code::kSuccess;
}

std::size_t Tracer::take_dropped() {
  MutexLock lock(mutex_);
  return std::exchange(dropped_, 0);
}

void Tracer::deliver() {
  std::deque<TracedRecord> records;
  {
    MutexLock lock(mutex_);
    records.swap(waiting_);
  }
  if (records.empty()) return;
  clock_.update();
  std::size_t lost = 0;
  delivering = true;
  for (TracedRecord& each : records) {
    convert_times(each);
    if (!buffers_.add(std::span(each.data).first(each.bytes))) ++lost;
  }
  delivering = false;
  MutexLock lock(mutex_);
  dropped_ += lost;
}

void Tracer::convert_times(TracedRecord& record) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record.data.data(), sizeof(kind));
  switch (kind) {
    case cupti::kKindKernel:
    case number(Kind::kConcurrentKernel): return convert<cupti::Kernel>(record, clock_);
    case number(Kind::kMemcpy): return convert<cupti::Memcpy>(record, clock_);
    case number(Kind::kMemset): return convert<cupti::Memset>(record, clock_);
    case number(Kind::kDriver):
    case number(Kind::kRuntime): return convert<cupti::ApiCall>(record, clock_);
    case number(Kind::kSynchronization): return convert<cupti::Synchronization>(record, clock_);
    default: return;
  }
}

template <class Record>
void Tracer::keep(const Record& record) {
  if (waiting_.size() >= kWaitingMax) {
    ++dropped_;
    return;
  }
  TracedRecord& traced = waiting_.emplace_back();
  static_assert(sizeof(record) <= sizeof(traced.data));
  traced.bytes = record_bytes(record.kind);
  write(traced, record);
}

bool Tracer::wants_call(const CallRecord& call) {
  const std::size_t api = call.driver ? 1 : 0;
  const std::uint32_t id = call.activity.call;
  if (id == 0 || id >= kCallCount || calls_off_[api][id]) return false;
  return calls_on_[api][id] || kinds_[number(call.driver ? Kind::kDriver : Kind::kRuntime)];
}

bool Tracer::launched_while_enabled(std::uint32_t correlation) {
  return first_correlation_ != 0 && correlation >= first_correlation_;
}

void Tracer::keep_external(std::uint32_t correlation) {
  for (std::uint32_t kind = cupti::kExternalKindMin; kind <= cupti::kExternalKindMax; ++kind) {
    const std::vector<std::uint64_t>& ids = external_ids[kind];
    if (ids.empty()) continue;
    keep(cupti::ExternalCorrelation{
        .external_kind = kind, .external_id = ids.back(), .correlation_id = correlation});
  }
}

void Tracer::call_begins(const CallRecord& call) {
  MutexLock lock(mutex_);
  const std::uint32_t correlation = call.activity.correlation_id;
  if (first_correlation_ == 0) first_correlation_ = correlation;
  if (kinds_[cupti::kKindExternalCorrelation]) keep_external(correlation);
}

void Tracer::call_ended(const CallRecord& call) {
  std::size_t waiting = 0;
  {
    MutexLock lock(mutex_);
    if (wants_call(call) && launched_while_enabled(call.activity.correlation_id)) {
      cupti::ApiCall record = call.activity;
      record.kind = number(call.driver ? Kind::kDriver : Kind::kRuntime);
      record.thread_id = thread_id_type_ == cupti::kThreadIdSystem
                             ? static_cast<std::uint32_t>(::syscall(SYS_gettid))
                             : static_cast<std::uint32_t>(::pthread_self());
      keep(record);
    }
    waiting = waiting_.size();
  }
  if (waiting < kDeliverAt || delivering) return;
  MutexLock lock(delivery_mutex_);
  if (buffers_.has_callbacks()) deliver();
}

void Tracer::kernel_ended(const cupti::Kernel& record, const char* name) {
  MutexLock lock(mutex_);
  const bool concurrent = kinds_[number(Kind::kConcurrentKernel)];
  if (!concurrent && !kinds_[cupti::kKindKernel]) return;
  if (!launched_while_enabled(record.correlation_id)) return;
  cupti::Kernel kept = record;
  kept.kind = concurrent ? number(Kind::kConcurrentKernel) : cupti::kKindKernel;
  if (!latency_) kept.queued_ns = kept.submitted_ns = 0;
  static_assert(sizeof(kept.name) == sizeof(name));
  std::memcpy(&kept.name, &name, sizeof(name));
  keep(kept);
}

void Tracer::copy_ended(const cupti::Memcpy& record) {
  MutexLock lock(mutex_);
  if (kinds_[number(Kind::kMemcpy)] && launched_while_enabled(record.correlation_id)) keep(record);
}

void Tracer::fill_ended(const cupti::Memset& record) {
  MutexLock lock(mutex_);
  if (kinds_[number(Kind::kMemset)] && launched_while_enabled(record.correlation_id)) keep(record);
}

void Tracer::wait_ended(const cupti::Synchronization& record) {
  MutexLock lock(mutex_);
  if (!kinds_[number(Kind::kSynchronization)]) return;
  if (launched_while_enabled(record.correlation_id)) keep(record);
}

Code Tracer::push_external(std::uint32_t kind, std::uint64_t id) {
  std::vector<std::uint64_t>* const ids = external_stack(kind);
  if (ids == nullptr) return Code::kInvalidParameter;
  ids->push_back(id);
  return Code::kSuccess;
}

Code Tracer::pop_external(std::uint32_t kind, std::uint64_t* id) {
  std::vector<std::uint64_t>* const ids = external_stack(kind);
  if (ids == nullptr) return Code::kInvalidParameter;
  if (ids->empty()) return Code::kQueueEmpty;
  if (id != nullptr) *id = ids->back();
  ids->pop_back();
  return Code::kSuccess;
}

}  // namespace unstarve::emulated
