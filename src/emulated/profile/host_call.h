#pragma once

#include <cstdint>

namespace unstarve::emulated {

/// The calls that cost the host time of their own or that a profiler tells apart; everything else
/// is kOther, which costs nothing and is not recorded.
enum class Call : std::uint8_t {
  kOther,
  kLaunchKernel,
  kGraphLaunch,
  kGraphInstantiate,
  kMemcpyAsync,
  kMemcpy,
  kMemsetAsync,
  kMemset,
  kMalloc,
  kFree,
  kMallocAsync,
  kFreeAsync,
  kHostAlloc,
  kFreeHost,
  kHostRegister,
  kHostUnregister,
  kEventCreate,
  kEventDestroy,
  kEventRecord,
  kEventQuery,
  kEventSynchronize,
  kStreamCreate,
  kStreamDestroy,
  kStreamWaitEvent,
  kStreamQuery,
  kStreamSynchronize,
  kDeviceSynchronize,
  kLaunchHostFunction,
  kPointerGetAttributes,
  kCount,
};

}  // namespace unstarve::emulated
