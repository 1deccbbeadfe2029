#pragma once

#include <cstdint>

#include "base/cupti_enums.h"
#include "emulated/process/api_call.h"

namespace unstarve::emulated {

struct CallNumbers {
  cupti::RuntimeCall runtime{};
  cupti::DriverCall driver{};
};

/// The functions of the runtime and of the driver that stand for `kind`, as CUPTI numbers them; 0
/// and 0: none that is told apart.
constexpr CallNumbers numbers_of(Call kind) {
  using cupti::DriverCall;
  using cupti::RuntimeCall;
  switch (kind) {
    case Call::kLaunchKernel: return {RuntimeCall::kCudaLaunchKernel, DriverCall::kCuLaunchKernel};
    case Call::kGraphLaunch: return {RuntimeCall::kCudaGraphLaunch, DriverCall::kCuGraphLaunch};
    case Call::kGraphInstantiate:
      return {RuntimeCall::kCudaGraphInstantiate, DriverCall::kCuGraphInstantiateWithFlags};
    case Call::kMemcpyAsync: return {RuntimeCall::kCudaMemcpyAsync, DriverCall::kCuMemcpyAsync};
    case Call::kMemcpy: return {RuntimeCall::kCudaMemcpy, DriverCall::kCuMemcpy};
    case Call::kMemsetAsync: return {RuntimeCall::kCudaMemsetAsync, DriverCall::kCuMemsetD8Async};
    case Call::kMemset: return {RuntimeCall::kCudaMemset, DriverCall::kCuMemsetD8};
    case Call::kMalloc: return {RuntimeCall::kCudaMalloc, DriverCall::kCuMemAlloc};
    case Call::kFree: return {RuntimeCall::kCudaFree, DriverCall::kCuMemFree};
    case Call::kMallocAsync: return {RuntimeCall::kCudaMallocAsync, DriverCall::kCuMemAllocAsync};
    case Call::kFreeAsync: return {RuntimeCall::kCudaFreeAsync, DriverCall::kCuMemFreeAsync};
    case Call::kHostAlloc: return {RuntimeCall::kCudaHostAlloc, DriverCall::kCuMemHostAlloc};
    case Call::kFreeHost: return {RuntimeCall::kCudaFreeHost, DriverCall::kCuMemFreeHost};
    case Call::kHostRegister:
      return {RuntimeCall::kCudaHostRegister, DriverCall::kCuMemHostRegister};
    case Call::kHostUnregister:
      return {RuntimeCall::kCudaHostUnregister, DriverCall::kCuMemHostUnregister};
    case Call::kEventCreate:
      return {RuntimeCall::kCudaEventCreateWithFlags, DriverCall::kCuEventCreate};
    case Call::kEventDestroy: return {RuntimeCall::kCudaEventDestroy, DriverCall::kCuEventDestroy};
    case Call::kEventRecord: return {RuntimeCall::kCudaEventRecord, DriverCall::kCuEventRecord};
    case Call::kEventQuery: return {RuntimeCall::kCudaEventQuery, DriverCall::kCuEventQuery};
    case Call::kEventSynchronize:
      return {RuntimeCall::kCudaEventSynchronize, DriverCall::kCuEventSynchronize};
    case Call::kStreamCreate:
      return {RuntimeCall::kCudaStreamCreateWithPriority, DriverCall::kCuStreamCreateWithPriority};
    case Call::kStreamDestroy:
      return {RuntimeCall::kCudaStreamDestroy, DriverCall::kCuStreamDestroy};
    case Call::kStreamWaitEvent:
      return {RuntimeCall::kCudaStreamWaitEvent, DriverCall::kCuStreamWaitEvent};
    case Call::kStreamQuery: return {RuntimeCall::kCudaStreamQuery, DriverCall::kCuStreamQuery};
    case Call::kStreamSynchronize:
      return {RuntimeCall::kCudaStreamSynchronize, DriverCall::kCuStreamSynchronize};
    case Call::kDeviceSynchronize:
      return {RuntimeCall::kCudaDeviceSynchronize, DriverCall::kCuCtxSynchronize};
    case Call::kLaunchHostFunction:
      return {RuntimeCall::kCudaLaunchHostFunc, DriverCall::kCuLaunchHostFunc};
    case Call::kPointerGetAttributes:
      return {RuntimeCall::kCudaPointerGetAttributes, DriverCall::kCuPointerGetAttribute};
    case Call::kOther:
    case Call::kCount: break;
  }
  return {};
}

}  // namespace unstarve::emulated
