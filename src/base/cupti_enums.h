#pragma once

#include <cstdint>

/// The numbers of NVIDIA's CUPTI (API of CUDA 13.0) that occur in its activity records.
namespace unstarve::cupti {

/// CUpti_ActivityKind.
enum class Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,   // an ApiCall of the CUDA driver
  kRuntime = 5,  // an ApiCall of the CUDA runtime
  kConcurrentKernel = 10,
  kOverhead = 17,
  kSynchronization = 38,
  kEmulatedState = 0x4D45'0001,  // not CUPTI's: see EmulatedState in cupti_ring.h
  kWindow = 0x4D45'0002,         // not CUPTI's: see RecordingWindow in cupti_ring.h
};

/// CUpti_ActivityMemcpyKind.
enum class CopyKind : std::uint8_t {
  kUnknown = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10
};

/// CUpti_ActivityMemoryKind. Nsight Systems' SQLite export numbers them otherwise.
enum class MemoryKind : std::uint8_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kArray = 4,
  kManaged = 5
};

/// CUpti_ActivitySynchronizationType.
enum class SyncKind : std::uint32_t {
  kUnknown = 0,
  kEvent = 1,
  kStreamWaitEvent = 2,
  kStream = 3,
  kContext = 4
};

/// CUpti_runtime_api_trace_cbid of the runtime calls that are told apart.
enum class RuntimeCall : std::uint32_t {
  kCudaMalloc = 20,
  kCudaFree = 22,
  kCudaFreeHost = 26,
  kCudaHostAlloc = 27,
  kCudaMemcpy = 31,
  kCudaMemcpy2D = 32,
  kCudaMemcpyAsync = 41,
  kCudaMemcpy2DAsync = 44,
  kCudaMemset = 49,
  kCudaMemsetAsync = 51,
  kCudaStreamSynchronize = 131,
  kCudaStreamQuery = 132,
  kCudaEventCreateWithFlags = 134,
  kCudaEventRecord = 135,
  kCudaEventDestroy = 136,
  kCudaEventSynchronize = 137,
  kCudaEventQuery = 138,
  kCudaStreamWaitEvent = 147,
  kCudaPointerGetAttributes = 151,
  kCudaHostRegister = 152,
  kCudaHostUnregister = 153,
  kCudaMemcpyPeerAsync = 161,
  kCudaDeviceSynchronize = 165,
  kCudaStreamDestroy = 201,
  kCudaStreamCreateWithPriority = 202,
  kCudaLaunchKernel = 211,
  kCudaLaunchCooperativeKernel = 269,
  kCudaLaunchHostFunc = 284,
  kCudaGraphLaunch = 311,
  kCudaMallocAsync = 373,
  kCudaFreeAsync = 375,
  kCudaLaunchKernelExC = 430,
  kCudaGraphInstantiate = 443,
};

/// "cudaLaunchKernel", ...; empty for a call that is not listed above.
constexpr const char* name_of(RuntimeCall call) {
  switch (call) {
    case RuntimeCall::kCudaMalloc: return "cudaMalloc";
    case RuntimeCall::kCudaFree: return "cudaFree";
    case RuntimeCall::kCudaFreeHost: return "cudaFreeHost";
    case RuntimeCall::kCudaHostAlloc: return "cudaHostAlloc";
    case RuntimeCall::kCudaMemcpy: return "cudaMemcpy";
    case RuntimeCall::kCudaMemcpy2D: return "cudaMemcpy2D";
    case RuntimeCall::kCudaMemcpyAsync: return "cudaMemcpyAsync";
    case RuntimeCall::kCudaMemcpy2DAsync: return "cudaMemcpy2DAsync";
    case RuntimeCall::kCudaMemset: return "cudaMemset";
    case RuntimeCall::kCudaMemsetAsync: return "cudaMemsetAsync";
    case RuntimeCall::kCudaStreamSynchronize: return "cudaStreamSynchronize";
    case RuntimeCall::kCudaStreamQuery: return "cudaStreamQuery";
    case RuntimeCall::kCudaEventCreateWithFlags: return "cudaEventCreateWithFlags";
    case RuntimeCall::kCudaEventRecord: return "cudaEventRecord";
    case RuntimeCall::kCudaEventDestroy: return "cudaEventDestroy";
    case RuntimeCall::kCudaEventSynchronize: return "cudaEventSynchronize";
    case RuntimeCall::kCudaEventQuery: return "cudaEventQuery";
    case RuntimeCall::kCudaStreamWaitEvent: return "cudaStreamWaitEvent";
    case RuntimeCall::kCudaPointerGetAttributes: return "cudaPointerGetAttributes";
    case RuntimeCall::kCudaMemcpyPeerAsync: return "cudaMemcpyPeerAsync";
    case RuntimeCall::kCudaHostRegister: return "cudaHostRegister";
    case RuntimeCall::kCudaHostUnregister: return "cudaHostUnregister";
    case RuntimeCall::kCudaDeviceSynchronize: return "cudaDeviceSynchronize";
    case RuntimeCall::kCudaStreamDestroy: return "cudaStreamDestroy";
    case RuntimeCall::kCudaStreamCreateWithPriority: return "cudaStreamCreateWithPriority";
    case RuntimeCall::kCudaLaunchCooperativeKernel: return "cudaLaunchCooperativeKernel";
    case RuntimeCall::kCudaLaunchKernel: return "cudaLaunchKernel";
    case RuntimeCall::kCudaLaunchHostFunc: return "cudaLaunchHostFunc";
    case RuntimeCall::kCudaGraphLaunch: return "cudaGraphLaunch";
    case RuntimeCall::kCudaMallocAsync: return "cudaMallocAsync";
    case RuntimeCall::kCudaFreeAsync: return "cudaFreeAsync";
    case RuntimeCall::kCudaLaunchKernelExC: return "cudaLaunchKernelExC";
    case RuntimeCall::kCudaGraphInstantiate: return "cudaGraphInstantiate";
  }
  return "";
}

/// CUpti_driver_api_trace_cbid of the driver calls that are told apart.
enum class DriverCall : std::uint32_t {
  kCuCtxSynchronize = 17,
  kCuMemFreeHost = 38,
  kCuEventCreate = 118,
  kCuEventRecord = 119,
  kCuEventQuery = 120,
  kCuEventSynchronize = 121,
  kCuStreamQuery = 125,
  kCuStreamSynchronize = 126,
  kCuMemsetD8Async = 216,
  kCuMemAlloc = 243,
  kCuMemFree = 245,
  kCuMemsetD8 = 249,
  kCuMemHostAlloc = 271,
  kCuStreamWaitEvent = 295,
  kCuMemHostUnregister = 302,
  kCuMemcpy = 305,
  kCuMemcpyAsync = 306,
  kCuLaunchKernel = 307,
  kCuPointerGetAttribute = 310,
  kCuEventDestroy = 325,
  kCuStreamDestroy = 326,
  kCuStreamCreateWithPriority = 367,
  kCuMemHostRegister = 379,
  kCuLaunchCooperativeKernel = 477,
  kCuGraphLaunch = 514,
  kCuLaunchHostFunc = 527,
  kCuMemAllocAsync = 598,
  kCuMemFreeAsync = 600,
  kCuGraphInstantiateWithFlags = 643,
  kCuLaunchKernelEx = 652,
};

/// "cuLaunchKernel", ...; empty for a call that is not listed above.
constexpr const char* name_of(DriverCall call) {
  switch (call) {
    case DriverCall::kCuCtxSynchronize: return "cuCtxSynchronize";
    case DriverCall::kCuMemFreeHost: return "cuMemFreeHost";
    case DriverCall::kCuEventCreate: return "cuEventCreate";
    case DriverCall::kCuEventRecord: return "cuEventRecord";
    case DriverCall::kCuEventQuery: return "cuEventQuery";
    case DriverCall::kCuEventSynchronize: return "cuEventSynchronize";
    case DriverCall::kCuStreamQuery: return "cuStreamQuery";
    case DriverCall::kCuStreamSynchronize: return "cuStreamSynchronize";
    case DriverCall::kCuMemsetD8Async: return "cuMemsetD8Async";
    case DriverCall::kCuMemAlloc: return "cuMemAlloc";
    case DriverCall::kCuMemFree: return "cuMemFree";
    case DriverCall::kCuMemsetD8: return "cuMemsetD8";
    case DriverCall::kCuMemHostAlloc: return "cuMemHostAlloc";
    case DriverCall::kCuStreamWaitEvent: return "cuStreamWaitEvent";
    case DriverCall::kCuMemHostUnregister: return "cuMemHostUnregister";
    case DriverCall::kCuMemcpy: return "cuMemcpy";
    case DriverCall::kCuMemcpyAsync: return "cuMemcpyAsync";
    case DriverCall::kCuLaunchKernel: return "cuLaunchKernel";
    case DriverCall::kCuPointerGetAttribute: return "cuPointerGetAttribute";
    case DriverCall::kCuEventDestroy: return "cuEventDestroy";
    case DriverCall::kCuStreamDestroy: return "cuStreamDestroy";
    case DriverCall::kCuStreamCreateWithPriority: return "cuStreamCreateWithPriority";
    case DriverCall::kCuMemHostRegister: return "cuMemHostRegister";
    case DriverCall::kCuLaunchCooperativeKernel: return "cuLaunchCooperativeKernel";
    case DriverCall::kCuGraphLaunch: return "cuGraphLaunch";
    case DriverCall::kCuLaunchHostFunc: return "cuLaunchHostFunc";
    case DriverCall::kCuMemAllocAsync: return "cuMemAllocAsync";
    case DriverCall::kCuMemFreeAsync: return "cuMemFreeAsync";
    case DriverCall::kCuGraphInstantiateWithFlags: return "cuGraphInstantiateWithFlags";
    case DriverCall::kCuLaunchKernelEx: return "cuLaunchKernelEx";
  }
  return "";
}

}  // namespace unstarve::cupti
