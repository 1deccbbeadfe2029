#include <cstdint>
#include <unordered_map>

#include "base/mutex.h"
#include "emulated/nccl/guarded.h"
#include "emulated/nccl/nccl_abi.h"
#include "emulated/process/gpu.h"

namespace unstarve::emulated::nccl {
namespace {

Result result_of(Outcome outcome, const char* function) {
  return outcome == Outcome::kSuccess ? Result::kSuccess
                                      : fail(Result::kUnhandledCudaError, function);
}

/// The buffers that are registered now, by their handles. Nothing is done with them that is not
/// done with others. Never destroyed: programs go on while the process ends.
struct Windows {
  Mutex mutex;
  std::unordered_map<std::uintptr_t, void*> buffers UNSTARVE_GUARDED_BY(mutex);
  std::uintptr_t last UNSTARVE_GUARDED_BY(mutex) = 0;
};

Windows& windows() {
  static Windows* const windows = new Windows;
  return *windows;
}

Result add_window(void* handle, void* buffer, void** out, const char* function) {
  return with_communicator(handle, function, [&](const auto&) {
    if (out == nullptr || buffer == nullptr) return fail(Result::kInvalidArgument, function);
    const MutexLock lock(windows().mutex);
    windows().buffers[++windows().last] = buffer;
    *out = reinterpret_cast<void*>(windows().last);
    return Result::kSuccess;
  });
}

/// nullptr: no such window.
void* buffer_of(void* window) {
  const MutexLock lock(windows().mutex);
  const auto found = windows().buffers.find(reinterpret_cast<std::uintptr_t>(window));
  return found == windows().buffers.end() ? nullptr : found->second;
}

Result remove_window(void* handle, void* window, const char* function) {
  return with_communicator(handle, function, [&](const auto&) {
    const MutexLock lock(windows().mutex);
    return windows().buffers.erase(reinterpret_cast<std::uintptr_t>(window)) == 1
               ? Result::kSuccess
               : fail(Result::kInvalidArgument, function);
  });
}

}  // namespace
}  // namespace unstarve::emulated::nccl

namespace nccl = unstarve::emulated::nccl;
using nccl::Result;

#pragma GCC visibility push(default)
extern "C" {

Result ncclMemAlloc(void** out, std::size_t bytes) {
  namespace emulated = unstarve::emulated;
  if (out == nullptr || bytes == 0) return nccl::fail(Result::kInvalidArgument, "ncclMemAlloc");
  if (emulated::usable() != emulated::Outcome::kSuccess) return Result::kUnhandledCudaError;
  return nccl::result_of(
      emulated::current_gpu()->allocate(bytes, emulated::MemoryPlace::kDevice, out),
      "ncclMemAlloc");
}

Result ncclMemFree(void* address) {
  namespace emulated = unstarve::emulated;
  if (emulated::usable() != emulated::Outcome::kSuccess) return Result::kUnhandledCudaError;
  return nccl::result_of(emulated::current_gpu()->free(address), "ncclMemFree");
}

Result ncclCommRegister(void* communicator, void* buffer, std::size_t /*bytes*/, void** out) {
  return nccl::add_window(communicator, buffer, out, "ncclCommRegister");
}

Result ncclCommDeregister(void* communicator, void* window) {
  return nccl::remove_window(communicator, window, "ncclCommDeregister");
}

Result ncclCommWindowRegister(void* communicator, void* buffer, std::size_t /*bytes*/, void** out,
                              int /*flags*/) {
  return nccl::add_window(communicator, buffer, out, "ncclCommWindowRegister");
}

Result ncclCommWindowDeregister(void* communicator, void* window) {
  return nccl::remove_window(communicator, window, "ncclCommWindowDeregister");
}

Result ncclWinGetUserPtr(void* communicator, void* window, void** out) {
  constexpr const char* kName = "ncclWinGetUserPtr";
  return nccl::with_communicator(communicator, kName, [&](const auto&) {
    void* const buffer = nccl::buffer_of(window);
    if (buffer == nullptr || out == nullptr) return nccl::fail(Result::kInvalidArgument, kName);
    *out = buffer;
    return Result::kSuccess;
  });
}

/// The memory of NCCL's own buffers is none here: nothing is given back or taken again.
Result ncclCommSuspend(void* communicator, int /*flags*/) {
  return nccl::with_communicator(communicator, "ncclCommSuspend",
                                 [](const auto&) { return Result::kSuccess; });
}

Result ncclCommResume(void* communicator) {
  return nccl::with_communicator(communicator, "ncclCommResume",
                                 [](const auto&) { return Result::kSuccess; });
}

Result ncclCommMemStats(void* communicator, int /*statistic*/, std::uint64_t* out) {
  return nccl::with_communicator(communicator, "ncclCommMemStats", [&](const auto&) {
    if (out == nullptr) return nccl::fail(Result::kInvalidArgument, "ncclCommMemStats");
    *out = 0;
    return Result::kSuccess;
  });
}
}
#pragma GCC visibility pop
