#include "device/cuda/testing/fake_driver/fake_driver.h"

#include <cstdlib>
#include <mutex>

namespace {

using unstarve::device::test::FakeDriver;

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kNotInitialised = 3;
constexpr int kDeinitialised = 4;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;
constexpr int kDevices = 2;
constexpr std::size_t kPage = 4096;

FakeDriver state;
std::mutex one_call;      // at a time: a loader pins in several threads
char contexts[kDevices];  // their addresses are the handles

/// What a call returns before it does anything: kSuccess to go on.
int begin(const char* name) {
  ++state.calls[name];
  if (state.shut_down) return kDeinitialised;
  const auto failing = state.failing.find(name);
  if (failing != state.failing.end()) return failing->second;
  const bool is_init = std::string(name) == "cuInit";
  return is_init || state.is_initialised ? kSuccess : kNotInitialised;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

FakeDriver* fake_driver() { return &state; }

int cuInit(unsigned flags) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuInit"); code != kSuccess) return code;
  state.is_initialised = true;
  return flags == 0 ? kSuccess : kInvalidValue;
}

int cuDeviceGet(int* device, int ordinal) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuDeviceGet"); code != kSuccess) return code;
  *device = ordinal;
  return ordinal >= 0 && ordinal < kDevices ? kSuccess : kInvalidDevice;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuDevicePrimaryCtxRetain"); code != kSuccess) return code;
  ++state.retained[device];
  *context = &contexts[device];
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuDevicePrimaryCtxRelease"); code != kSuccess) return code;
  --state.retained[device];
  return kSuccess;
}

int cuCtxPushCurrent_v2(void* context) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuCtxPushCurrent"); code != kSuccess) return code;
  if (context == nullptr) return kInvalidContext;
  state.current.push_back(context);
  return kSuccess;
}

int cuCtxPopCurrent_v2(void** context) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuCtxPopCurrent"); code != kSuccess) return code;
  if (state.current.empty()) return kInvalidContext;
  *context = state.current.back();
  state.current.pop_back();
  return kSuccess;
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuMemHostAlloc"); code != kSuccess) return code;
  if (state.current.empty()) return kInvalidContext;
  *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  state.flags.push_back(flags);
  state.alive.insert(*memory);
  return kSuccess;
}

int cuMemFreeHost(void* memory) {
  const std::lock_guard lock(one_call);
  if (const int code = begin("cuMemFreeHost"); code != kSuccess) return code;
  if (state.current.empty()) return kInvalidContext;
  if (state.alive.erase(memory) == 0) return kInvalidValue;
  std::free(memory);
  return kSuccess;
}

int cuGetErrorString(int code, const char** text) {
  *text = code == kDeinitialised ? "driver shutting down" : "injected";
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
