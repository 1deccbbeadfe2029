#pragma once

#include <cstdint>

#include "emulated/profile/host_call.h"

/// One call of the CUDA runtime or driver by the program, from entry to return.
namespace unstarve::emulated {

/// Opened by each function of the runtime, the driver and the libraries: what the profile says such
/// a call costs the host is spent before it ends (what we used ourselves counts), and the call goes
/// into the records, together with whatever it put on the device.
///
///   cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
///     ApiCall call(Call::kEventRecord);
///     ...
///
/// Opened within another of the same thread (cuBLAS's launch within cublasSgemm), each is a call of
/// its own; both costs are spent.
/// Thread rule: lives on one thread's stack.
class ApiCall {
 public:
  explicit ApiCall(Call kind, bool driver = false);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  /// Numbers what this call puts on the device; CUPTI's correlation ID.
  std::uint32_t correlation() const { return correlation_; }
  Call kind() const { return kind_; }
  /// The innermost call open on this thread; nullptr: none.
  static const ApiCall* innermost();
  /// So much of it the thread waited for the device.
  void note_waited(std::int64_t ns) { waited_ns_ += ns; }

 private:
  const Call kind_;
  const bool driver_;
  std::uint32_t correlation_ = 0;
  std::int64_t started_ns_ = 0;
  std::int64_t waited_ns_ = 0;  // for the device and in calls within this one: no cost of it
  ApiCall* outer_ = nullptr;
  bool recorded_ = false;
};

}  // namespace unstarve::emulated
