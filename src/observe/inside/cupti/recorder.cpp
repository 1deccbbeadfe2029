#include "observe/inside/cupti/recorder.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "base/clock.h"

namespace unstarve::recording {

namespace {

using cupti::Code;
using cupti::Kind;

// How often records are fetched while a window is open: live views are that late, and what a killed
// process did last is lost for so long.
constexpr std::int64_t kTickNs = 200'000'000;
// The same while there are so many that a reader who looks ten times a second would otherwise find
// the ring overrun: half a million a second is what small kernels and their launches come to.
constexpr std::int64_t kBusyTickNs = 40'000'000;
constexpr std::uint64_t kManyRecords = 8'192;
constexpr std::int64_t kNothingToDoNs = 3'600'000'000'000;
// For what still runs on the GPU when a window closes; somebody waits for the shorter one.
constexpr std::int64_t kPatienceNs = 500'000'000;
constexpr std::int64_t kShortPatienceNs = 50'000'000;
// PyTorch's profiler may shut CUPTI down at the first CUDA call after its end (TEARDOWN_CUPTI), and
// with it a window that had opened before.
constexpr std::int64_t kAfterPauseNs = 500'000'000;
constexpr std::int64_t kLookAgainNs = 10'000'000;
constexpr std::chrono::seconds kPauseMax{1};
constexpr std::chrono::seconds kEndMax{2};
constexpr std::size_t kClockReadings = 7;
constexpr std::uint32_t kCallMax = 1024;

constexpr std::uint32_t number(Kind kind) { return static_cast<std::uint32_t>(kind); }

/// Beside kernels and calls. Those that a CUPTI does not know are left out.
constexpr std::array kMoreKinds = {number(Kind::kMemcpy), cupti::kKindPeerCopy,
                                   number(Kind::kMemset), number(Kind::kSynchronization),
                                   number(Kind::kOverhead)};

std::int64_t now_ns() { return SteadyClock().now_ns(); }

std::atomic<Recorder*> g_recorder{nullptr};
std::atomic<BufferPool*> g_pool{nullptr};

extern "C" {
static void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records_max) {
  BufferPool* const pool = g_pool.load();
  *buffer = pool != nullptr ? pool->take() : nullptr;
  *size = pool != nullptr ? BufferPool::bytes_of(*buffer) : 0;
  *records_max = 0;  // as many as fit
}

static void complete_buffer(void*, std::uint32_t, std::uint8_t* buffer, std::size_t,
                            std::size_t valid) {
  if (BufferPool* const pool = g_pool.load()) pool->filled(buffer, valid);
}
}

std::string words_for(Code code) {
  if (code == Code::kMultipleSubscribersNotSupported) {
    return "another profiler uses CUPTI (error 39)";
  }
  return fmt::format("CUPTI cannot record here (error {})", static_cast<int>(code));
}

void sleep_ns(std::int64_t ns) {
  const timespec time = {0, ns};
  ::nanosleep(&time, nullptr);
}

}  // namespace

Recorder::Recorder(const CuptiFunctions& functions, const Options& options)
    : cupti_(functions),
      ring_(options.rings_folder, {.library = functions.path,
                                   .version = functions.version,
                                   .plan = describe(options.plan),
                                   .remark = options.plan.ignored}),
      timer_(options.plan),
      pauses_(options.pauses) {}

Status Recorder::start() {
  g_pool.store(&pool_);
  g_recorder.store(this);
  if (!is_paused()) {
    if (Status opened = open_window(); !opened) {
      g_recorder.store(nullptr);
      return opened;
    }
    tell(true, false);
  }
  // A signal of the job's must not interrupt a thread of ours instead.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread = {};
  const int failed = ::pthread_create(&thread, nullptr, run_thread, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed == 0) {
    ::pthread_setname_np(thread, "unstarve-cupti");
    ::pthread_detach(thread);
    return {};
  }
  if (is_open_) close_window(0);
  g_recorder.store(nullptr);
  return fail_errno(failed, "cannot start a thread");
}

void Recorder::forget_after_fork() {
  g_recorder.store(nullptr);
  g_pool.store(nullptr);
}

void* Recorder::run_thread(void* recorder) {
  auto& self = *static_cast<Recorder*>(recorder);
  try {
    self.run();
  } catch (...) {
    // Only the memory can be short. What is open stays so; nobody fetches it any more.
    self.tell(false, true);
  }
  return nullptr;
}

void Recorder::run() {
  for (;;) {
    const Wish wish = wait_for_wish();
    if (wish.steps_began_ns) timer_.steps_began(*wish.steps_began_ns);
    timer_.step_takes(wish.step_ns);
    const bool wanted =
        !wish.ending && !wish.paused && failure().empty() && timer_.wants_window(now_ns());
    if (is_open_ && !wanted) {
      close_window(wish.ending || wish.paused ? kShortPatienceNs : kPatienceNs);
    } else if (is_open_) {
      flush(0);
      read_clock();
      write_filled();
    } else if (wanted) {
      if (const Status opened = open_window(); !opened) give_up(opened.error().message);
    }
    tell(is_open_, wish.ending);
    if (wish.ending) return;
  }
}

Recorder::Wish Recorder::wait_for_wish() {
  const std::int64_t now = now_ns();
  std::int64_t sleep = kNothingToDoNs;
  if (is_open_) sleep = written_ > kManyRecords ? kBusyTickNs : kTickNs;
  if (const auto change = timer_.next_change_ns(now)) sleep = std::min(sleep, *change - now);
  MutexLock lock(mutex_);
  if (paused_until_ns_ > now) sleep = std::min(sleep, paused_until_ns_ - now);
  changed_.wait_for(mutex_, std::chrono::nanoseconds(std::max<std::int64_t>(sleep, 0)),
                    [this]() UNSTARVE_REQUIRES(mutex_) { return changed_wish_; });
  changed_wish_ = false;
  return {.ending = ending_,
          .paused = pauses_ > 0 || now_ns() < paused_until_ns_,
          .steps_began_ns = steps_began_ns_,
          .step_ns = step_ns_};
}

void Recorder::tell(bool open, bool ended) {
  MutexLock lock(mutex_);
  shown_open_ = open;
  ended_ = ended_ || ended;
  done_.notify_all();
}

void Recorder::give_up(const std::string& why) {
  ring_.set_remark(why);
  MutexLock lock(mutex_);
  failure_ = why;
}

std::string Recorder::failure() {
  MutexLock lock(mutex_);
  return failure_;
}

bool Recorder::is_paused() {
  MutexLock lock(mutex_);
  return pauses_ > 0;
}

void Recorder::pause() {
  if (g_recorder.load() != this) return;
  MutexLock lock(mutex_);
  ++pauses_;
  changed_wish_ = true;
  changed_.notify_all();
  done_.wait_for(mutex_, kPauseMax,
                 [this]() UNSTARVE_REQUIRES(mutex_) { return !shown_open_ || ended_; });
}

void Recorder::resume() {
  if (g_recorder.load() != this) return;
  MutexLock lock(mutex_);
  pauses_ = std::max(pauses_ - 1, 0);
  paused_until_ns_ = now_ns() + kAfterPauseNs;
  changed_wish_ = true;
  changed_.notify_all();
}

void Recorder::steps_began() {
  MutexLock lock(mutex_);
  if (steps_began_ns_) return;
  steps_began_ns_ = now_ns();
  changed_wish_ = true;
  changed_.notify_all();
}

void Recorder::step_takes(std::int64_t step_ns) {
  MutexLock lock(mutex_);
  if (step_ns <= step_ns_) return;
  step_ns_ = step_ns;
  changed_wish_ = true;
  changed_.notify_all();
}

void Recorder::end() {
  if (g_recorder.load() != this) return;
  MutexLock lock(mutex_);
  ending_ = changed_wish_ = true;
  changed_.notify_all();
  done_.wait_for(mutex_, kEndMax, [this]() UNSTARVE_REQUIRES(mutex_) { return ended_; });
}

Status Recorder::open_window() {
  // Anew for each window: others may have used CUPTI meanwhile.
  Code code = cupti_.register_callbacks(request_buffer, complete_buffer);
  if (code != Code::kSuccess) return fail(ErrorCode::kNotSupported, "{}", words_for(code));
  if (cupti_.set_thread_id_type != nullptr) {
    static_cast<void>(cupti_.set_thread_id_type(cupti::kThreadIdSystem));
  }
  clock_.clear();
  read_clock();
  if (clock_.is_empty()) return fail(ErrorCode::kNotSupported, "CUPTI says no time");
  if (Status enabled = enable_kinds(); !enabled) {
    disable_all();
    return enabled;
  }
  is_open_ = true;
  window_.start_ns = now_ns();
  window_.end_ns = 0;
  window_.clock_error_ns = clock_.error_ns();
  window_.records_lost = 0;
  ring_.open_window(window_);
  return {};
}

Status Recorder::enable_kinds() {
  const Code code = cupti_.enable(number(Kind::kConcurrentKernel));
  if (code != Code::kSuccess) return fail(ErrorCode::kNotSupported, "{}", words_for(code));
  for (const std::uint32_t kind : kMoreKinds) static_cast<void>(cupti_.enable(kind));
  enable_calls();
  return {};
}

/// Only the calls that are kept, where CUPTI can be told: the others then cost the job nothing.
void Recorder::enable_calls() {
  if (cupti_.enable_runtime_call == nullptr || cupti_.enable_driver_call == nullptr) {
    static_cast<void>(cupti_.enable(number(Kind::kRuntime)));
    return;
  }
  for (std::uint32_t call = 1; call < kCallMax; ++call) {
    if (is_kept(static_cast<cupti::RuntimeCall>(call))) cupti_.enable_runtime_call(call, 1);
    if (is_kept(static_cast<cupti::DriverCall>(call))) cupti_.enable_driver_call(call, 1);
  }
}

void Recorder::disable_all() {
  for (std::uint32_t call = 1; call < kCallMax; ++call) {
    if (cupti_.enable_runtime_call == nullptr || cupti_.enable_driver_call == nullptr) break;
    if (is_kept(static_cast<cupti::RuntimeCall>(call))) cupti_.enable_runtime_call(call, 0);
    if (is_kept(static_cast<cupti::DriverCall>(call))) cupti_.enable_driver_call(call, 0);
  }
  if (cupti_.set_thread_id_type != nullptr) {
    static_cast<void>(cupti_.set_thread_id_type(cupti::kThreadIdDefault));
  }
  // A kind overrides what was said of its calls: nothing of us is left for who comes next.
  static_cast<void>(cupti_.disable(number(Kind::kRuntime)));
  static_cast<void>(cupti_.disable(number(Kind::kDriver)));
  for (const std::uint32_t kind : kMoreKinds) static_cast<void>(cupti_.disable(kind));
  static_cast<void>(cupti_.disable(number(Kind::kConcurrentKernel)));
}

void Recorder::close_window(std::int64_t patience_ns) {
  window_.end_ns = now_ns();
  disable_all();
  is_open_ = false;
  const std::int64_t deadline = now_ns() + patience_ns;
  for (;;) {
    flush(0);
    if (pool_.outstanding() == 0 || now_ns() >= deadline) break;
    sleep_ns(kLookAgainNs);
  }
  if (pool_.outstanding() != 0) flush(cupti::kFlushForced);
  read_clock();
  write_filled();
  count_lost();
  window_.clock_error_ns = clock_.error_ns();
  if (const Status closed = ring_.close_window(window_); !closed) {
    give_up(closed.error().message);
  }
  ++window_.number;
}

void Recorder::flush(std::uint32_t flag) { static_cast<void>(cupti_.flush_all(flag)); }

void Recorder::read_clock() {
  std::array<ClockMatch::Reading, kClockReadings> readings;
  std::size_t count = 0;
  for (std::size_t i = 0; i < kClockReadings; ++i) {
    ClockMatch::Reading& reading = readings[count];
    reading.before_ns = now_ns();
    const Code code = cupti_.timestamp(&reading.theirs);
    reading.after_ns = now_ns();
    if (code == Code::kSuccess) ++count;
  }
  if (count > 0) clock_.add(readings.data(), count);
}

void Recorder::write_filled() {
  written_ = 0;
  for (;;) {
    const BufferPool::Filled filled = pool_.next_filled();
    if (filled.bytes == nullptr) break;
    if (failure().empty()) write_records(filled);
    pool_.free(filled.bytes);
  }
  if (const auto began = ring_.first_operation_ns()) timer_.activity_began(*began);
}

void Recorder::write_records(const BufferPool::Filled& filled) {
  const std::span<std::uint8_t> all(filled.bytes, filled.valid);
  std::uint8_t* record = nullptr;
  Code code = cupti_.next_record(all.data(), all.size(), &record);
  while (code == Code::kSuccess) {
    std::uint8_t* next = record;
    code = cupti_.next_record(all.data(), all.size(), &next);
    const auto begin = static_cast<std::size_t>(record - all.data());
    const auto end =
        code == Code::kSuccess ? static_cast<std::size_t>(next - all.data()) : all.size();
    // Whatever CUPTI says, what we read is in the buffer.
    if (begin >= end || end > all.size()) break;
    const Result<bool> written = ring_.write(all.subspan(begin, end - begin), clock_);
    if (!written) return give_up(written.error().message);
    if (!*written) ++window_.records_lost;
    ++written_;
    record = next;
  }
  // What follows a record of a kind that CUPTI itself does not know cannot be found.
  if (code != Code::kMaxLimitReached) ++window_.records_lost;
}

void Recorder::count_lost() {
  window_.records_lost += pool_.take_thrown_away();
  std::size_t dropped = 0;
  if (cupti_.dropped == nullptr) return;
  if (cupti_.dropped(nullptr, 0, &dropped) == Code::kSuccess) window_.records_lost += dropped;
}

}  // namespace unstarve::recording
