#include "emulated/context/device_facts.h"

#include <algorithm>
#include <cmath>

#include "emulated/context/context.h"

namespace unstarve::emulated {
namespace {

using cuda::DeviceAttribute;

int number(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, kMaxGridDimX));
}

/// Data centre GPUs calculate with doubles at half the rate of floats, the others at 1/32 or 1/64.
int single_to_double_ratio(const PeakRates& peak) {
  if (peak.f64_flops <= 0) return 32;
  return std::max(1, static_cast<int>(std::lround(peak.f32_flops / peak.f64_flops)));
}

int profile_attribute(const Gpu& gpu, DeviceAttribute attribute) {
  const Profile& profile = gpu.profile();
  switch (attribute) {
    case DeviceAttribute::kSharedMemoryPerBlock: return number(profile.shared_memory_per_block);
    case DeviceAttribute::kClockRate: return profile.sm_clock_khz;
    case DeviceAttribute::kMultiprocessorCount: return profile.multiprocessors;
    case DeviceAttribute::kMemoryClockRate: return profile.memory_clock_khz;
    case DeviceAttribute::kMemoryBusWidth: return profile.memory_bus_bits;
    case DeviceAttribute::kL2CacheSize: return number(profile.l2_bytes);
    case DeviceAttribute::kMaxPersistingL2Size: return number(profile.l2_bytes * 3 / 4);
    case DeviceAttribute::kMaxThreadsPerMultiprocessor:
      return profile.max_threads_per_multiprocessor;
    case DeviceAttribute::kMaxBlocksPerMultiprocessor: return profile.max_blocks_per_multiprocessor;
    case DeviceAttribute::kComputeMajor: return profile.compute_major;
    case DeviceAttribute::kComputeMinor: return profile.compute_minor;
    case DeviceAttribute::kSharedMemoryPerMultiprocessor:
      return number(profile.shared_memory_per_multiprocessor);
    case DeviceAttribute::kSharedMemoryPerBlockOptin:
      return number(profile.shared_memory_per_block_optin);
    case DeviceAttribute::kSingleToDoubleRatio: return single_to_double_ratio(profile.peak);
    case DeviceAttribute::kClusterLaunch:
    case DeviceAttribute::kTensorMapSupported: return profile.compute_major >= 9 ? 1 : 0;
    case DeviceAttribute::kPciBusId: return pci_bus_of(gpu);
    default: return -1;
  }
}

int common_attribute(DeviceAttribute attribute) {
  switch (attribute) {
    case DeviceAttribute::kMaxThreadsPerBlock:
    case DeviceAttribute::kMaxBlockDimX:
    case DeviceAttribute::kMaxBlockDimY: return kMaxThreadsPerBlock;
    case DeviceAttribute::kMaxBlockDimZ: return kMaxBlockDimZ;
    case DeviceAttribute::kMaxGridDimX:
    case DeviceAttribute::kMaxPitch: return kMaxGridDimX;
    case DeviceAttribute::kMaxGridDimY:
    case DeviceAttribute::kMaxGridDimZ: return kMaxGridDimYz;
    case DeviceAttribute::kTotalConstantMemory: return 65536;
    case DeviceAttribute::kWarpSize:
    case DeviceAttribute::kTexturePitchAlignment: return 32;
    case DeviceAttribute::kRegistersPerBlock:
    case DeviceAttribute::kRegistersPerMultiprocessor: return kRegistersPerBlock;
    case DeviceAttribute::kTextureAlignment:
    case DeviceAttribute::kSurfaceAlignment: return 512;
    case DeviceAttribute::kMaxTexture1dWidth:
    case DeviceAttribute::kMaxTexture2dWidth: return 131072;
    case DeviceAttribute::kMaxTexture2dHeight: return 65536;
    case DeviceAttribute::kMaxTexture3dWidth:
    case DeviceAttribute::kMaxTexture3dHeight:
    case DeviceAttribute::kMaxTexture3dDepth: return 16384;
    case DeviceAttribute::kAsyncEngineCount: return 3;
    case DeviceAttribute::kMaxAccessPolicyWindow: return 134213632;
    case DeviceAttribute::kReservedSharedMemoryPerBlock: return kReservedSharedBytes;
    default: return -1;
  }
}

bool is_supported(DeviceAttribute attribute) {
  switch (attribute) {
    case DeviceAttribute::kGpuOverlap:
    case DeviceAttribute::kCanMapHostMemory:
    case DeviceAttribute::kConcurrentKernels:
    case DeviceAttribute::kUnifiedAddressing:
    case DeviceAttribute::kStreamPrioritiesSupported:
    case DeviceAttribute::kGlobalL1CacheSupported:
    case DeviceAttribute::kLocalL1CacheSupported:
    case DeviceAttribute::kManagedMemory:
    case DeviceAttribute::kConcurrentManagedAccess:
    case DeviceAttribute::kComputePreemptionSupported:
    case DeviceAttribute::kCanUseHostPointerForRegistered:
    case DeviceAttribute::kCooperativeLaunch:
    case DeviceAttribute::kHostRegisterSupported:
    case DeviceAttribute::kVirtualMemorySupported:
    case DeviceAttribute::kMemoryPoolsSupported:
    case DeviceAttribute::kIpcEventSupported: return true;
    default: return false;
  }
}

}  // namespace

int device_attribute(const Gpu& gpu, DeviceAttribute attribute) {
  int value = profile_attribute(gpu, attribute);
  if (value < 0) value = common_attribute(attribute);
  if (value < 0) value = is_supported(attribute) ? 1 : 0;
  return value;
}

}  // namespace unstarve::emulated
