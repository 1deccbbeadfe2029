#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the CUDA runtime's binary interface that programs hand over in structures, declared
/// anew. Layouts as of the headers of CUDA 12.8 and 13.2; where they differ, by
/// UNSTARVE_CUDA_MAJOR. `tools/check_cuda_abi.py` compares them with NVIDIA's.
namespace unstarve::emulated::cuda {

/// dim3.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// cudaUUID_t, CUuuid.
struct Uuid {
  char bytes[16];
};

/// cudaPointerAttributes. `type` is a MemoryType.
struct PointerAttributes {
  std::int32_t type;
  std::int32_t device;
  void* device_pointer;
  void* host_pointer;
#if UNSTARVE_CUDA_MAJOR >= 13
  long reserved[8];
#endif
};

/// cudaMemoryType.
enum class MemoryType : std::int32_t { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

/// cudaMemcpyKind.
enum class MemcpyKind : std::int32_t {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
};

/// cudaFuncAttributes.
struct FuncAttributes {
  std::size_t shared_size_bytes;
  std::size_t const_size_bytes;
  std::size_t local_size_bytes;
  std::int32_t max_threads_per_block;
  std::int32_t registers;
  std::int32_t ptx_version;
  std::int32_t binary_version;
  std::int32_t cache_mode_ca;
  std::int32_t max_dynamic_shared_size_bytes;
  std::int32_t preferred_shared_memory_carveout;
  std::int32_t cluster_dim_must_be_set;
  std::int32_t required_cluster_width;
  std::int32_t required_cluster_height;
  std::int32_t required_cluster_depth;
  std::int32_t cluster_scheduling_policy;
  std::int32_t non_portable_cluster_size_allowed;
  std::int32_t reserved[16];
};

/// cudaLaunchAttribute, CUlaunchAttribute: `id` says which member of a union of 64 bytes is meant.
struct alignas(8) LaunchAttribute {
  std::int32_t id;
  std::int32_t padding;
  std::uint32_t value[16];
};
inline constexpr std::int32_t kLaunchAttributeCooperative = 2;

/// cudaLaunchConfig_t.
struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};

/// cudaPos, cudaExtent, cudaPitchedPtr.
struct Position {
  std::size_t x;
  std::size_t y;
  std::size_t z;
};
struct Extent {
  std::size_t width;
  std::size_t height;
  std::size_t depth;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;
};

/// cudaMemcpy3DParms.
struct Memcpy3d {
  void* source_array;
  Position source_position;
  PitchedPointer source;
  void* target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  MemcpyKind kind;
};

/// cudaMemcpy3DPeerParms.
struct Memcpy3dPeer {
  void* source_array;
  Position source_position;
  PitchedPointer source;
  std::int32_t source_device;
  void* target_array;
  Position target_position;
  PitchedPointer target;
  std::int32_t target_device;
  Extent extent;
};

/// cudaIpcMemHandle_t, cudaIpcEventHandle_t, CUipcMemHandle, CUipcEventHandle.
struct IpcHandle {
  char bytes[64];
};

/// cudaStreamCaptureStatus.
enum class CaptureStatus : std::int32_t { kNone = 0, kActive = 1, kInvalidated = 2 };

inline constexpr std::uint32_t kStreamNonBlocking = 1;        // cudaStreamNonBlocking
inline constexpr std::uint32_t kEventBlockingSync = 1;        // cudaEventBlockingSync
inline constexpr std::uint32_t kEventDisableTiming = 2;       // cudaEventDisableTiming
inline constexpr std::uint32_t kEventInterprocess = 4;        // cudaEventInterprocess
inline constexpr std::uint32_t kDeviceScheduleSpin = 1;       // cudaDeviceScheduleSpin
inline constexpr std::uint32_t kDeviceScheduleYield = 2;      // cudaDeviceScheduleYield
inline constexpr std::uint32_t kDeviceScheduleBlocking = 4;   // cudaDeviceScheduleBlockingSync
inline constexpr std::uint32_t kDeviceScheduleMask = 7;       // cudaDeviceScheduleMask
inline constexpr std::int32_t kPriorityLeast = 0;             // of a stream
inline constexpr std::int32_t kPriorityGreatest = -5;         //
inline constexpr std::int32_t kFuncMaxDynamicSharedSize = 8;  // cudaFuncAttributeMaxDynamic...
inline constexpr std::int32_t kFuncPreferredSharedCarveout = 9;

}  // namespace unstarve::emulated::cuda
