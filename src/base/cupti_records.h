#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cupti_enums.h"

/// The activity records of NVIDIA's CUPTI (API of CUDA 13.0), declared anew so that nothing here
/// needs its headers. Sizes and offsets were compared with those headers and are pinned by the
/// assertions below. Field names follow the project; the order and the types are CUPTI's.
/// Times are ns; in a ring they are CLOCK_MONOTONIC.
namespace unstarve::cupti {

/// CUpti_ActivityKernel10.
struct Kernel {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kConcurrentKernel);
  std::uint8_t cache_config = 0;
  std::uint8_t shared_memory_config = 0;
  std::uint16_t registers_per_thread = 0;
  std::uint32_t partitioned_global_cache_requested = 0;
  std::uint32_t partitioned_global_cache_executed = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t completed_ns = 0;
  std::uint32_t device_id = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::int32_t grid[3] = {0, 0, 0};
  std::int32_t block[3] = {0, 0, 0};
  std::int32_t static_shared_memory = 0;
  std::int32_t dynamic_shared_memory = 0;
  std::uint32_t local_memory_per_thread = 0;
  std::uint32_t local_memory_total = 0;
  std::uint32_t correlation_id = 0;
  std::int64_t grid_id = 0;
  std::uint64_t name = 0;  // a `const char*` in CUPTI; in a ring the index into its text's `names`
  std::uint64_t reserved0 = 0;
  std::uint64_t queued_ns = 0;
  std::uint64_t submitted_ns = 0;
  std::uint8_t launch_type = 0;
  std::uint8_t shared_memory_carveout[3] = {0, 0, 0};
  std::uint32_t shared_memory_executed = 0;
  std::uint64_t graph_node_id = 0;
  std::uint32_t shared_memory_limit_config = 0;
  std::uint32_t graph_id = 0;
  std::uint64_t access_policy_window = 0;
  std::uint32_t channel_id = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t cluster[3] = {0, 0, 0};
  std::uint32_t cluster_scheduling_policy = 0;
  std::uint64_t local_memory_total_v2 = 0;
  std::uint32_t max_potential_cluster_size = 0;
  std::uint32_t max_active_clusters = 0;
  std::uint64_t is_device_launched = 0;  // one byte and seven of padding in CUPTI
};
static_assert(sizeof(Kernel) == 216 && offsetof(Kernel, start_ns) == 16);
static_assert(offsetof(Kernel, device_id) == 40 && offsetof(Kernel, stream_id) == 48);
static_assert(offsetof(Kernel, grid) == 52 && offsetof(Kernel, correlation_id) == 92);
static_assert(offsetof(Kernel, name) == 104 && offsetof(Kernel, queued_ns) == 120);
static_assert(offsetof(Kernel, launch_type) == 136 && offsetof(Kernel, graph_node_id) == 144);
static_assert(offsetof(Kernel, graph_id) == 156);

/// CUpti_ActivityMemcpy6.
struct Memcpy {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kMemcpy);
  std::uint8_t copy_kind = 0;    // CopyKind
  std::uint8_t source_kind = 0;  // MemoryKind
  std::uint8_t target_kind = 0;  // MemoryKind
  std::uint8_t flags = 0;        // 1: asynchronous
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t device_id = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t runtime_correlation_id = 0;
  std::uint32_t padding = 0;
  std::uint64_t reserved0 = 0;
  std::uint64_t graph_node_id = 0;
  std::uint32_t graph_id = 0;
  std::uint32_t channel_id = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t is_device_launched = 0;  // one byte and three of padding in CUPTI
  std::uint64_t copy_count = 0;
};
static_assert(sizeof(Memcpy) == 96 && offsetof(Memcpy, bytes) == 8);
static_assert(offsetof(Memcpy, start_ns) == 16 && offsetof(Memcpy, device_id) == 32);
static_assert(offsetof(Memcpy, stream_id) == 40 && offsetof(Memcpy, correlation_id) == 44);
static_assert(offsetof(Memcpy, graph_node_id) == 64 && offsetof(Memcpy, copy_count) == 88);

/// CUpti_ActivityMemset4.
struct Memset {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kMemset);
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t device_id = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation_id = 0;
  std::uint16_t flags = 0;
  std::uint16_t memory_kind = 0;  // MemoryKind
  std::uint32_t padding = 0;
  std::uint64_t reserved0 = 0;
  std::uint64_t graph_node_id = 0;
  std::uint32_t graph_id = 0;
  std::uint32_t channel_id = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t is_device_launched = 0;
};
static_assert(sizeof(Memset) == 88 && offsetof(Memset, bytes) == 8);
static_assert(offsetof(Memset, start_ns) == 16 && offsetof(Memset, stream_id) == 40);
static_assert(offsetof(Memset, flags) == 48 && offsetof(Memset, memory_kind) == 50);

/// CUpti_ActivityAPI: a call of the CUDA runtime on the host.
struct ApiCall {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kRuntime);
  std::uint32_t call = 0;  // RuntimeCall
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t process_id = 0;
  std::uint32_t thread_id = 0;  // the kernel's tid
  std::uint32_t correlation_id = 0;
  std::uint32_t return_value = 0;
};
static_assert(sizeof(ApiCall) == 40 && offsetof(ApiCall, start_ns) == 8);
static_assert(offsetof(ApiCall, process_id) == 24 && offsetof(ApiCall, return_value) == 36);

/// CUpti_ActivitySynchronization2: the wait inside such a call.
struct Synchronization {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kSynchronization);
  std::uint32_t sync_kind = 0;  // SyncKind
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t cuda_event_id = 0;
  std::uint64_t cuda_event_sync_id = 0;
  std::uint32_t return_value = 0;
  std::uint32_t padding = 0;
};
static_assert(sizeof(Synchronization) == 56 && offsetof(Synchronization, start_ns) == 8);
static_assert(offsetof(Synchronization, correlation_id) == 24);
static_assert(offsetof(Synchronization, cuda_event_sync_id) == 40);
static_assert(offsetof(Synchronization, return_value) == 48);

/// CUpti_ActivityOverhead3: what the profiler itself cost.
struct Overhead {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kOverhead);
  std::uint32_t overhead_kind = 0;
  std::uint32_t object_kind = 0;
  std::uint32_t object_id[3] = {0, 0, 0};
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t correlation_id = 0;
  std::uint32_t padding = 0;
  std::uint64_t data = 0;
};
static_assert(sizeof(Overhead) == 56 && offsetof(Overhead, start_ns) == 24);
static_assert(offsetof(Overhead, correlation_id) == 40);

}  // namespace unstarve::cupti
