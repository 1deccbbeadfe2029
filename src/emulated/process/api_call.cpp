#include "emulated/process/api_call.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "emulated/process/machine.h"
#include "emulated/process/records/call_numbers.h"
#include "emulated/process/records/recorder_state.h"
#include "emulated/process/waiting.h"

namespace unstarve::emulated {

namespace {

thread_local ApiCall* t_innermost = nullptr;

std::uint32_t next_correlation() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

CallRecord record_of(const ApiCall& call, bool driver, std::int64_t started_ns) {
  const CallNumbers numbers = numbers_of(call.kind());
  CallRecord record{.kind = call.kind(), .driver = driver, .activity = {}};
  record.activity.kind =
      static_cast<std::uint32_t>(driver ? cupti::Kind::kDriver : cupti::Kind::kRuntime);
  record.activity.call = driver ? static_cast<std::uint32_t>(numbers.driver)
                                : static_cast<std::uint32_t>(numbers.runtime);
  record.activity.start_ns = static_cast<std::uint64_t>(started_ns);
  record.activity.process_id = static_cast<std::uint32_t>(::getpid());
  record.activity.thread_id = static_cast<std::uint32_t>(thread_id());
  record.activity.correlation_id = call.correlation();
  return record;
}

}  // namespace

ApiCall::ApiCall(Call kind, bool driver)
    : kind_(kind),
      driver_(driver),
      correlation_(next_correlation()),
      started_ns_(now_ns()),
      outer_(t_innermost) {
  t_innermost = this;
  Recorder& recorder = Recorder::get();
  recorded_ = kind_ != Call::kOther && Machine::existing() != nullptr && recorder.records_calls();
  if (recorded_) recorder.call_begins(record_of(*this, driver_, started_ns_));
}

ApiCall::~ApiCall() {
  t_innermost = outer_;
  Machine* machine = Machine::existing();
  // What we used ourselves counts, that which writes the record too; waiting for the device, and
  // calls within this one, do not.
  const std::int64_t cost_ns =
      machine != nullptr ? machine->profile().host_ns[static_cast<std::size_t>(kind_)] : 0;
  const std::int64_t due_ns = started_ns_ + waited_ns_ + cost_ns;
  if (recorded_) {
    CallRecord record = record_of(*this, driver_, started_ns_);
    record.activity.end_ns = static_cast<std::uint64_t>(std::max(now_ns(), due_ns));
    Recorder::get().call_ended(record);
  }
  // The clock is read once before the call counts as begun, and once too often at its end.
  if (cost_ns > 0) spin_until(due_ns - 2 * clock_read_ns());
  if (outer_ != nullptr) outer_->waited_ns_ += now_ns() - started_ns_;
}

const ApiCall* ApiCall::innermost() { return t_innermost; }

void note_waited(std::int64_t ns) {
  if (t_innermost != nullptr) t_innermost->note_waited(ns);
}

}  // namespace unstarve::emulated
