#pragma once

#include <cstdint>

/// The numbers of NVIDIA's CUPTI (API of CUDA 13.0) that occur in its activity records.
namespace unstarve::cupti {

/// CUpti_ActivityKind.
enum class Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kRuntime = 5,  // an ApiCall of the CUDA runtime
  kConcurrentKernel = 10,
  kSynchronization = 38,
  kEmulatedState = 0x4D45'0001,  // not CUPTI's: see EmulatedState in cupti_ring.h
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

/// CUpti_runtime_api_trace_cbid of the runtime calls that an emulated GPU makes.
enum class RuntimeCall : std::uint32_t {
  kCudaMalloc = 20,
  kCudaFree = 22,
  kCudaMemcpyAsync = 41,
  kCudaMemsetAsync = 51,
  kCudaStreamSynchronize = 131,
  kCudaEventRecord = 135,
  kCudaEventSynchronize = 137,
  kCudaStreamWaitEvent = 147,
  kCudaDeviceSynchronize = 165,
  kCudaLaunchKernel = 211,
};

/// "cudaLaunchKernel", ...; empty for a call that is not listed above.
constexpr const char* name_of(RuntimeCall call) {
  switch (call) {
    case RuntimeCall::kCudaMalloc: return "cudaMalloc";
    case RuntimeCall::kCudaFree: return "cudaFree";
    case RuntimeCall::kCudaMemcpyAsync: return "cudaMemcpyAsync";
    case RuntimeCall::kCudaMemsetAsync: return "cudaMemsetAsync";
    case RuntimeCall::kCudaStreamSynchronize: return "cudaStreamSynchronize";
    case RuntimeCall::kCudaEventRecord: return "cudaEventRecord";
    case RuntimeCall::kCudaEventSynchronize: return "cudaEventSynchronize";
    case RuntimeCall::kCudaStreamWaitEvent: return "cudaStreamWaitEvent";
    case RuntimeCall::kCudaDeviceSynchronize: return "cudaDeviceSynchronize";
    case RuntimeCall::kCudaLaunchKernel: return "cudaLaunchKernel";
  }
  return "";
}

}  // namespace unstarve::cupti
