#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "observe/inside/cupti/cupti_functions.h"

namespace unstarve::recording {

/// A CUPTI that does what a test says, for what no machine can be made to do. One at a time.
class FakeCupti {
 public:
  FakeCupti();
  ~FakeCupti();

  CuptiFunctions functions() const;

  // What it answers.
  std::map<std::uint32_t, cupti::Code> enable_answers;  // by kind; else success
  cupti::Code register_answer = cupti::Code::kSuccess;
  cupti::Code timestamp_answer = cupti::Code::kSuccess;
  std::size_t dropped = 0;
  bool holds_buffers = false;  // back: only by a forced flush
  bool is_old = false;         // single calls cannot be chosen
  std::uint64_t ticks_per_ns = 1;
  static constexpr std::uint64_t kClockOffset = 1'700'000'000'000'000'000;

  /// What its clock says at a time of CLOCK_MONOTONIC.
  std::uint64_t at(std::int64_t ns) const;
  /// A record gets into the buffer that the client gave, or it asks for one.
  template <class Record>
  void emit(const Record& record, std::size_t bytes = sizeof(Record)) {
    std::vector<std::uint8_t> raw(bytes);
    std::memcpy(raw.data(), &record, bytes < sizeof(record) ? bytes : sizeof(record));
    emit_bytes(raw);
  }
  void emit_bytes(std::span<const std::uint8_t> record);
  /// Gives the client a buffer that is not its own.
  void complete_foreign(std::uint8_t* buffer, std::size_t bytes);

  std::set<std::uint32_t> enabled();
  std::size_t calls_on();
  int forced_flushes();

 private:
  friend struct FakeFunctions;
  cupti::Code enable(std::uint32_t kind, bool on);
  cupti::Code flush(bool forced);

  Mutex mutex_;
  std::set<std::uint32_t> enabled_ UNSTARVE_GUARDED_BY(mutex_);
  std::set<std::uint64_t> calls_on_ UNSTARVE_GUARDED_BY(mutex_);
  int forced_flushes_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  cupti::RequestBuffer request_ = nullptr;
  cupti::CompleteBuffer complete_ = nullptr;
  std::uint8_t* buffer_ UNSTARVE_GUARDED_BY(mutex_) = nullptr;
  std::size_t size_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::size_t used_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::map<std::uint8_t*, std::size_t> lengths_ UNSTARVE_GUARDED_BY(mutex_);  // of records
};

}  // namespace unstarve::recording
