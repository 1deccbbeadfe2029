#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/abi/runtime_abi.h"

namespace unstarve::emulated::cuda {

/// cudaDeviceProp, as of CUDA 12 and of CUDA 13, which left some members out.
struct DeviceProperties {
  char name[256];
  Uuid uuid;
  char luid[8];
  std::uint32_t luid_device_node_mask;
  std::size_t total_global_memory;
  std::size_t shared_memory_per_block;
  std::int32_t registers_per_block;
  std::int32_t warp_size;
  std::size_t memory_pitch;
  std::int32_t max_threads_per_block;
  std::int32_t max_threads_dim[3];
  std::int32_t max_grid_size[3];
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t clock_rate;
#endif
  std::size_t total_constant_memory;
  std::int32_t major;
  std::int32_t minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t device_overlap;
#endif
  std::int32_t multiprocessor_count;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t kernel_execution_timeout;
#endif
  std::int32_t integrated;
  std::int32_t can_map_host_memory;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t compute_mode;
#endif
  std::int32_t max_texture_1d;
  std::int32_t max_texture_1d_mipmap;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t max_texture_1d_linear;
#endif
  std::int32_t max_texture_2d[2];
  std::int32_t max_texture_2d_mipmap[2];
  std::int32_t max_texture_2d_linear[3];
  std::int32_t max_texture_2d_gather[2];
  std::int32_t max_texture_3d[3];
  std::int32_t max_texture_3d_alternate[3];
  std::int32_t max_texture_cubemap;
  std::int32_t max_texture_1d_layered[2];
  std::int32_t max_texture_2d_layered[3];
  std::int32_t max_texture_cubemap_layered[2];
  std::int32_t max_surface_1d;
  std::int32_t max_surface_2d[2];
  std::int32_t max_surface_3d[3];
  std::int32_t max_surface_1d_layered[2];
  std::int32_t max_surface_2d_layered[3];
  std::int32_t max_surface_cubemap;
  std::int32_t max_surface_cubemap_layered[2];
  std::size_t surface_alignment;
  std::int32_t concurrent_kernels;
  std::int32_t ecc_enabled;
  std::int32_t pci_bus_id;
  std::int32_t pci_device_id;
  std::int32_t pci_domain_id;
  std::int32_t tcc_driver;
  std::int32_t async_engine_count;
  std::int32_t unified_addressing;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t memory_clock_rate;
#endif
  std::int32_t memory_bus_width;
  std::int32_t l2_cache_size;
  std::int32_t persisting_l2_cache_max_size;
  std::int32_t max_threads_per_multiprocessor;
  std::int32_t stream_priorities_supported;
  std::int32_t global_l1_cache_supported;
  std::int32_t local_l1_cache_supported;
  std::size_t shared_memory_per_multiprocessor;
  std::int32_t registers_per_multiprocessor;
  std::int32_t managed_memory;
  std::int32_t is_multi_gpu_board;
  std::int32_t multi_gpu_board_group_id;
  std::int32_t host_native_atomic_supported;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t single_to_double_precision_ratio;
#endif
  std::int32_t pageable_memory_access;
  std::int32_t concurrent_managed_access;
  std::int32_t compute_preemption_supported;
  std::int32_t can_use_host_pointer_for_registered_memory;
  std::int32_t cooperative_launch;
#if UNSTARVE_CUDA_MAJOR < 13
  std::int32_t cooperative_multi_device_launch;
#endif
  std::size_t shared_memory_per_block_optin;
  std::int32_t pageable_memory_access_uses_host_page_tables;
  std::int32_t direct_managed_memory_access_from_host;
  std::int32_t max_blocks_per_multiprocessor;
  std::int32_t access_policy_max_window_size;
  std::size_t reserved_shared_memory_per_block;
  std::int32_t host_register_supported;
  std::int32_t sparse_array_supported;
  std::int32_t host_register_read_only_supported;
  std::int32_t timeline_semaphore_interop_supported;
  std::int32_t memory_pools_supported;
  std::int32_t gpu_direct_rdma_supported;
  std::uint32_t gpu_direct_rdma_flush_writes_options;
  std::int32_t gpu_direct_rdma_writes_ordering;
  std::uint32_t memory_pool_supported_handle_types;
  std::int32_t deferred_mapping_array_supported;
  std::int32_t ipc_event_supported;
  std::int32_t cluster_launch;
  std::int32_t unified_function_pointers;
  std::int32_t reserved[63];  // CUDA 13 has NUMA and PCI numbers in the first seven
};

}  // namespace unstarve::emulated::cuda
