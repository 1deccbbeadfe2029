#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/abi/runtime_abi.h"

/// The part of the CUDA driver's binary interface that programs hand over in structures, declared
/// anew; the same in CUDA 12 and 13. Layouts as of the headers of CUDA 12.8 and 13.2.
namespace unstarve::emulated::cuda {

/// CUdeviceptr.
using DevicePointer = std::uint64_t;

/// CUlaunchConfig.
struct DriverLaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};

/// CUmemorytype.
enum class DriverMemoryType : std::uint32_t { kHost = 1, kDevice = 2, kArray = 3, kUnified = 4 };

/// CUDA_MEMCPY2D.
struct DriverMemcpy2d {
  std::size_t source_x_bytes;
  std::size_t source_y;
  DriverMemoryType source_type;
  const void* source_host;
  DevicePointer source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x_bytes;
  std::size_t target_y;
  DriverMemoryType target_type;
  void* target_host;
  DevicePointer target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width_bytes;
  std::size_t height;
};

/// CUDA_MEMCPY3D.
struct DriverMemcpy3d {
  std::size_t source_x_bytes;
  std::size_t source_y;
  std::size_t source_z;
  std::size_t source_level;
  DriverMemoryType source_type;
  const void* source_host;
  DevicePointer source_device;
  void* source_array;
  void* reserved0;
  std::size_t source_pitch;
  std::size_t source_height;
  std::size_t target_x_bytes;
  std::size_t target_y;
  std::size_t target_z;
  std::size_t target_level;
  DriverMemoryType target_type;
  void* target_host;
  DevicePointer target_device;
  void* target_array;
  void* reserved1;
  std::size_t target_pitch;
  std::size_t target_height;
  std::size_t width_bytes;
  std::size_t height;
  std::size_t depth;
};

/// CUmemLocation, cudaMemLocation.
struct MemoryLocation {
  std::int32_t type;
  std::int32_t id;
};
inline constexpr std::int32_t kLocationDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE

/// CUmemAccessDesc, cudaMemAccessDesc.
struct MemoryAccess {
  MemoryLocation location;
  std::int32_t flags;
};

/// CUmemAllocationProp.
struct MemoryProperties {
  std::int32_t type;
  std::int32_t handle_types;
  MemoryLocation location;
  void* windows_metadata;
  std::uint8_t compression_type;
  std::uint8_t gpu_direct_rdma_capable;
  std::uint16_t usage;
  std::uint8_t reserved[4];
};
inline constexpr std::int32_t kAllocationPinned = 1;       // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr std::int32_t kHandlePosixDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESC...

/// CUmemPoolProps, cudaMemPoolProps.
struct MemoryPoolProperties {
  std::int32_t type;
  std::int32_t handle_types;
  MemoryLocation location;
  void* windows_attributes;
  std::size_t max_bytes;
  std::uint16_t usage;
  std::uint8_t reserved[54];
};

/// CUtensorMap: opaque, aligned for the device.
struct alignas(64) TensorMap {
  std::uint64_t opaque[16];
};

}  // namespace unstarve::emulated::cuda
