#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "base/cupti_abi.h"
#include "base/mutex.h"
#include "emulated/process/records/recorder.h"

namespace unstarve::emulated {

/// CUPTI's callback interface: the one client that is told when the program enters a function of
/// the runtime or the driver, and when it is about to return. Parameters, return values, symbol
/// names and contexts are not passed on (nullptr); what happens to contexts, modules and NVTX
/// ranges is not told.
/// Thread rule: any thread.
class Subscriber {
 public:
  /// The handle that the client holds; kMultipleSubscribersNotSupported: there is one already.
  cupti::Code subscribe(cupti::Callback callback, void* user_data, void** handle);
  cupti::Code unsubscribe(const void* handle);
  /// `call` 0: all of the domain.
  cupti::Code enable(const void* handle, std::uint32_t domain, std::uint32_t call, bool on);
  cupti::Code is_enabled(const void* handle, std::uint32_t domain, std::uint32_t call, bool* on);
  void clear();
  bool wants_calls();

  /// `entered`: else about to return. On the thread that calls.
  void tell(const CallRecord& call, bool entered);

 private:
  static constexpr std::uint32_t kCallCount = 1024;
  bool is_ours(const void* handle) const UNSTARVE_REQUIRES(mutex_) {
    return callback_ != nullptr && handle == this;
  }

  Mutex mutex_;
  cupti::Callback callback_ UNSTARVE_GUARDED_BY(mutex_) = nullptr;
  void* user_data_ UNSTARVE_GUARDED_BY(mutex_) = nullptr;
  std::array<std::bitset<kCallCount>, 2> calls_ UNSTARVE_GUARDED_BY(mutex_);  // [1]: the driver's
  std::bitset<8> quiet_domains_ UNSTARVE_GUARDED_BY(mutex_);  // in which nothing happens here
};

/// The process's one; never destroyed.
Subscriber& subscriber();

/// The name of a function as CUPTI writes it; empty for one that is not told apart.
const char* function_name(bool driver, std::uint32_t call);

}  // namespace unstarve::emulated
