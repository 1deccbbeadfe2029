#include "emulated/cupti/subscriber.h"

#include <deque>
#include <memory>

#include "emulated/process/gpu.h"

namespace unstarve::emulated {

using cupti::Code;
using cupti::Domain;

namespace {

/// The word that the client may pass from a call's entry to its return.
struct OpenCall {
  std::uint32_t correlation = 0;
  std::uint64_t word = 0;
};
/// The calls that this thread is in; a deque, since clients hold addresses of its words.
thread_local std::deque<OpenCall> open_calls;

std::uint64_t& enter(std::uint32_t correlation) {
  return open_calls.emplace_back(OpenCall{correlation, 0}).word;
}

/// The word of the call, which is closed by leave(); one that was not told of when it was entered
/// gets one now.
std::uint64_t& find(std::uint32_t correlation) {
  for (OpenCall& each : open_calls) {
    if (each.correlation == correlation) return each.word;
  }
  return enter(correlation);
}

void leave(std::uint32_t correlation) {
  while (!open_calls.empty()) {
    const bool found = open_calls.back().correlation == correlation;
    open_calls.pop_back();
    if (found) return;
  }
}

}  // namespace

Subscriber& subscriber() {
  static Subscriber& only = *std::make_unique<Subscriber>().release();
  return only;
}

const char* function_name(bool driver, std::uint32_t call) {
  return driver ? cupti::name_of(static_cast<cupti::DriverCall>(call))
                : cupti::name_of(static_cast<cupti::RuntimeCall>(call));
}

Code Subscriber::subscribe(cupti::Callback callback, void* user_data, void** handle) {
  if (handle == nullptr || callback == nullptr) return Code::kInvalidParameter;
  MutexLock lock(mutex_);
  if (callback_ != nullptr) return Code::kMultipleSubscribersNotSupported;
  callback_ = callback;
  user_data_ = user_data;
  *handle = this;
  return Code::kSuccess;
}

Code Subscriber::unsubscribe(const void* handle) {
  MutexLock lock(mutex_);
  if (!is_ours(handle)) return Code::kInvalidParameter;
  callback_ = nullptr;
  calls_ = {};
  quiet_domains_.reset();
  return Code::kSuccess;
}

void Subscriber::clear() {
  MutexLock lock(mutex_);
  callback_ = nullptr;
  calls_ = {};
  quiet_domains_.reset();
}

Code Subscriber::enable(const void* handle, std::uint32_t domain, std::uint32_t call, bool on) {
  MutexLock lock(mutex_);
  if (!is_ours(handle)) return Code::kInvalidParameter;
  switch (static_cast<Domain>(domain)) {
    case Domain::kDriver:
    case Domain::kRuntime: {
      if (call >= kCallCount) return Code::kInvalidParameter;
      std::bitset<kCallCount>& calls = calls_[static_cast<Domain>(domain) == Domain::kDriver];
      if (call != 0) {
        calls[call] = on;
      } else if (on) {
        calls.set();
      } else {
        calls.reset();
      }
      return Code::kSuccess;
    }
    // CUPTI's own errors: there are none. Contexts and modules: clients that would follow them (for
    // hardware counters) are told of none.
    case Domain::kState:
    case Domain::kResource: quiet_domains_[domain] = on; return Code::kSuccess;
    case Domain::kSynchronize:
    case Domain::kNvtx: return on ? Code::kNotSupported : Code::kSuccess;
  }
  return Code::kInvalidParameter;
}

Code Subscriber::is_enabled(const void* handle, std::uint32_t domain, std::uint32_t call,
                            bool* on) {
  MutexLock lock(mutex_);
  if (!is_ours(handle) || on == nullptr || call >= kCallCount) return Code::kInvalidParameter;
  switch (static_cast<Domain>(domain)) {
    case Domain::kDriver: *on = calls_[1][call]; return Code::kSuccess;
    case Domain::kRuntime: *on = calls_[0][call]; return Code::kSuccess;
    case Domain::kState:
    case Domain::kResource: *on = quiet_domains_[domain]; return Code::kSuccess;
    case Domain::kSynchronize:
    case Domain::kNvtx: *on = false; return Code::kSuccess;
  }
  return Code::kInvalidParameter;
}

bool Subscriber::wants_calls() {
  MutexLock lock(mutex_);
  return callback_ != nullptr && (calls_[0].any() || calls_[1].any());
}

void Subscriber::tell(const CallRecord& call, bool entered) {
  const std::uint32_t id = call.activity.call;
  cupti::Callback callback = nullptr;
  void* user_data = nullptr;
  {
    MutexLock lock(mutex_);
    if (id == 0 || id >= kCallCount || !calls_[call.driver][id]) return;
    callback = callback_;
    user_data = user_data_;
  }
  if (callback == nullptr) return;
  const std::uint32_t correlation = call.activity.correlation_id;
  cupti::CallbackData data;
  data.site = entered ? 0 : 1;
  data.function_name = function_name(call.driver, id);
  data.context_id = static_cast<std::uint32_t>(current_gpu()->index() + 1);
  data.correlation_data = entered ? &enter(correlation) : &find(correlation);
  data.correlation_id = correlation;
  callback(user_data, static_cast<std::uint32_t>(call.driver ? Domain::kDriver : Domain::kRuntime),
           id, &data);
  if (!entered) leave(correlation);
}

}  // namespace unstarve::emulated
