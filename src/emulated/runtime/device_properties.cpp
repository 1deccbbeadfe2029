#include "emulated/abi/device_properties_abi.h"

#include <cstdio>
#include <cstring>

#include "emulated/context/device_facts.h"
#include "emulated/runtime/runtime_call.h"

/// cudaGetDeviceProperties: what the profile says, in the structure of each CUDA major.
namespace unstarve::emulated {
namespace {

using cuda::DeviceAttribute;
using cuda::DeviceProperties;

void fill_identity(const Gpu& gpu, DeviceProperties& out) {
  const Profile& profile = gpu.profile();
  std::snprintf(out.name, sizeof out.name, "%s", profile.device_name.c_str());
  out.uuid = uuid_of(gpu);
  out.pci_bus_id = pci_bus_of(gpu);
  out.major = profile.compute_major;
  out.minor = profile.compute_minor;
  out.multiprocessor_count = profile.multiprocessors;
}

void fill_launch_limits(const Gpu& gpu, DeviceProperties& out) {
  const Profile& profile = gpu.profile();
  out.warp_size = 32;
  out.max_threads_per_block = kMaxThreadsPerBlock;
  out.max_threads_dim[0] = kMaxThreadsPerBlock;
  out.max_threads_dim[1] = kMaxThreadsPerBlock;
  out.max_threads_dim[2] = kMaxBlockDimZ;
  out.max_grid_size[0] = kMaxGridDimX;
  out.max_grid_size[1] = kMaxGridDimYz;
  out.max_grid_size[2] = kMaxGridDimYz;
  out.max_threads_per_multiprocessor = profile.max_threads_per_multiprocessor;
  out.max_blocks_per_multiprocessor = profile.max_blocks_per_multiprocessor;
  out.registers_per_block = kRegistersPerBlock;
  out.registers_per_multiprocessor = kRegistersPerBlock;
  out.concurrent_kernels = 1;
  out.stream_priorities_supported = 1;
  out.compute_preemption_supported = 1;
  out.cooperative_launch = 1;
  out.cluster_launch = device_attribute(gpu, DeviceAttribute::kClusterLaunch);
  out.async_engine_count = device_attribute(gpu, DeviceAttribute::kAsyncEngineCount);
}

void fill_memory(const Gpu& gpu, DeviceProperties& out) {
  const Profile& profile = gpu.profile();
  out.total_global_memory = static_cast<std::size_t>(profile.total_memory_bytes);
  out.shared_memory_per_block = static_cast<std::size_t>(profile.shared_memory_per_block);
  out.shared_memory_per_block_optin =
      static_cast<std::size_t>(profile.shared_memory_per_block_optin);
  out.shared_memory_per_multiprocessor =
      static_cast<std::size_t>(profile.shared_memory_per_multiprocessor);
  out.reserved_shared_memory_per_block = kReservedSharedBytes;
  out.memory_pitch = kMaxGridDimX;
  out.total_constant_memory = 65536;
  out.memory_bus_width = profile.memory_bus_bits;
  out.l2_cache_size = device_attribute(gpu, DeviceAttribute::kL2CacheSize);
  out.persisting_l2_cache_max_size = device_attribute(gpu, DeviceAttribute::kMaxPersistingL2Size);
  out.access_policy_max_window_size =
      device_attribute(gpu, DeviceAttribute::kMaxAccessPolicyWindow);
  out.global_l1_cache_supported = 1;
  out.local_l1_cache_supported = 1;
  out.can_map_host_memory = 1;
  out.unified_addressing = 1;
  out.managed_memory = 1;
  out.concurrent_managed_access = 1;
  out.can_use_host_pointer_for_registered_memory = 1;
  out.host_register_supported = 1;
  out.memory_pools_supported = 1;
  out.ipc_event_supported = 1;
}

void fill_textures(const Gpu& gpu, DeviceProperties& out) {
  out.texture_alignment = 512;
  out.texture_pitch_alignment = 32;
  out.surface_alignment = 512;
  out.max_texture_1d = device_attribute(gpu, DeviceAttribute::kMaxTexture1dWidth);
  out.max_texture_2d[0] = device_attribute(gpu, DeviceAttribute::kMaxTexture2dWidth);
  out.max_texture_2d[1] = device_attribute(gpu, DeviceAttribute::kMaxTexture2dHeight);
  for (int& size : out.max_texture_3d) {
    size = device_attribute(gpu, DeviceAttribute::kMaxTexture3dWidth);
  }
}

Outcome fill(DeviceProperties* out, int device) {
  return on_device(device, [&](Gpu& gpu) {
    if (out == nullptr) return Outcome::kInvalidValue;
    *out = {};
    fill_identity(gpu, *out);
    fill_launch_limits(gpu, *out);
    fill_memory(gpu, *out);
    fill_textures(gpu, *out);
#if UNSTARVE_CUDA_MAJOR < 13
    out->clock_rate = gpu.profile().sm_clock_khz;
    out->memory_clock_rate = gpu.profile().memory_clock_khz;
    out->device_overlap = 1;
    out->single_to_double_precision_ratio =
        device_attribute(gpu, DeviceAttribute::kSingleToDoubleRatio);
#endif
    return Outcome::kSuccess;
  });
}

}  // namespace

#if UNSTARVE_CUDA_MAJOR >= 13
UNSTARVE_CUDART cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return remember(fill(properties, device));
}
#else
UNSTARVE_CUDART cudaGetDeviceProperties_v2(DeviceProperties* properties, int device) {
  return remember(fill(properties, device));
}
#endif

}  // namespace unstarve::emulated
