#include "diagnose/signals/signals.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace unstarve::diagnose {

namespace {

constexpr std::array<SignalField, 95> kFields = {{
    {"gpu_compute_ratio", &Signals::gpu_compute_ratio},
    {"exposed_communication_ratio", &Signals::exposed_communication_ratio},
    {"exposed_copy_ratio", &Signals::exposed_copy_ratio},
    {"input_wait_ratio", &Signals::input_wait_ratio},
    {"sync_ratio", &Signals::sync_ratio},
    {"launch_ratio", &Signals::launch_ratio},
    {"kernel_wait_ratio", &Signals::kernel_wait_ratio},
    {"other_ratio", &Signals::other_ratio},
    {"launch_after_sync_ratio", &Signals::launch_after_sync_ratio},
    {"launch_beside_loading_ratio", &Signals::launch_beside_loading_ratio},
    {"edge_other_ratio", &Signals::edge_other_ratio},
    {"edge_busy_ratio", &Signals::edge_busy_ratio},
    {"step_count", &Signals::step_count},
    {"recorded_ratio", &Signals::recorded_ratio},
    {"recorded_step_count", &Signals::recorded_step_count},
    {"ops_without_launch_ratio", &Signals::ops_without_launch_ratio},
    {"events_lost_ratio", &Signals::events_lost_ratio},
    {"step_ns_median", &Signals::step_ns_median},
    {"wait_ns_median", &Signals::wait_ns_median},
    {"wait_ns_mean", &Signals::wait_ns_mean},
    {"wait_ratio", &Signals::wait_ratio},
    {"blocked_ratio", &Signals::blocked_ratio},
    {"loader_starts", &Signals::loader_starts},
    {"loader_start_ns", &Signals::loader_start_ns},
    {"loader_end_ns", &Signals::loader_end_ns},
    {"startup_wait_ratio", &Signals::startup_wait_ratio},
    {"order_ratio", &Signals::order_ratio},
    {"empty_queue_ratio", &Signals::empty_queue_ratio},
    {"ready_wait_ratio", &Signals::ready_wait_ratio},
    {"num_workers", &Signals::num_workers},
    {"worker_busy_ratio", &Signals::worker_busy_ratio},
    {"prefetch_factor", &Signals::prefetch_factor},
    {"batch_size", &Signals::batch_size},
    {"pin_memory", &Signals::pin_memory},
    {"fetch_ns_median", &Signals::fetch_ns_median},
    {"fetch_cpu_ratio", &Signals::fetch_cpu_ratio},
    {"fetch_in_files_ratio", &Signals::fetch_in_files_ratio},
    {"fetch_in_network_ratio", &Signals::fetch_in_network_ratio},
    {"fetch_asleep_ratio", &Signals::fetch_asleep_ratio},
    {"fetch_in_locks_ratio", &Signals::fetch_in_locks_ratio},
    {"fetch_sleep_call_ratio", &Signals::fetch_sleep_call_ratio},
    {"decode_ratio", &Signals::decode_ratio},
    {"collate_ratio", &Signals::collate_ratio},
    {"python_ratio", &Signals::python_ratio},
    {"loader_threads", &Signals::loader_threads},
    {"read_ratio", &Signals::read_ratio},
    {"transform_ratio", &Signals::transform_ratio},
    {"threads_idle_ratio", &Signals::threads_idle_ratio},
    {"launches_per_step", &Signals::launches_per_step},
    {"longest_launch_gap_ratio", &Signals::longest_launch_gap_ratio},
    {"long_launch_gap_ratio", &Signals::long_launch_gap_ratio},
    {"long_launch_gap_ns_median", &Signals::long_launch_gap_ns_median},
    {"long_launch_gaps_per_step", &Signals::long_launch_gaps_per_step},
    {"collection_ratio", &Signals::collection_ratio},
    {"save_ratio", &Signals::save_ratio},
    {"allocation_ratio", &Signals::allocation_ratio},
    {"memory_full_per_step", &Signals::memory_full_per_step},
    {"empty_cache_ratio", &Signals::empty_cache_ratio},
    {"compile_ratio", &Signals::compile_ratio},
    {"evaluation_ratio", &Signals::evaluation_ratio},
    {"kernel_ns_median", &Signals::kernel_ns_median},
    {"product_ratio", &Signals::product_ratio},
    {"float_product_ratio", &Signals::float_product_ratio},
    {"misaligned_product_ratio", &Signals::misaligned_product_ratio},
    {"memory_kernel_ratio", &Signals::memory_kernel_ratio},
    {"syncs_per_step", &Signals::syncs_per_step},
    {"upload_wait_ratio", &Signals::upload_wait_ratio},
    {"read_back_ratio", &Signals::read_back_ratio},
    {"h2d_copies_per_step", &Signals::h2d_copies_per_step},
    {"h2d_bytes_median", &Signals::h2d_bytes_median},
    {"h2d_bytes_per_step", &Signals::h2d_bytes_per_step},
    {"pageable_ratio", &Signals::pageable_ratio},
    {"copy_overlap_ratio", &Signals::copy_overlap_ratio},
    {"communication_overlap_ratio", &Signals::communication_overlap_ratio},
    {"trains_on_host", &Signals::trains_on_host},
    {"gpu_takes_no_part", &Signals::gpu_takes_no_part},
    {"effective_cpus", &Signals::effective_cpus},
    {"job_cpu_cores", &Signals::job_cpu_cores},
    {"cpu_use_ratio", &Signals::cpu_use_ratio},
    {"cpu_waiting_threads", &Signals::cpu_waiting_threads},
    {"training_cpu_wait_ratio", &Signals::training_cpu_wait_ratio},
    {"neighbour_cores", &Signals::neighbour_cores},
    {"throttled_ratio", &Signals::throttled_ratio},
    {"io_pressure_ratio", &Signals::io_pressure_ratio},
    {"page_cache_miss_ratio", &Signals::page_cache_miss_ratio},
    {"storage_bytes_per_s", &Signals::storage_bytes_per_s},
    {"read_call_bytes_per_s", &Signals::read_call_bytes_per_s},
    {"memory_available_ratio", &Signals::memory_available_ratio},
    {"memory_available_bytes", &Signals::memory_available_bytes},
    {"gpu_utilisation_mean", &Signals::gpu_utilisation_mean},
    {"gpu_utilisation_deviation", &Signals::gpu_utilisation_deviation},
    {"gpu_utilisation_swings_ratio", &Signals::gpu_utilisation_swings_ratio},
    {"gpu_memory_used_ratio", &Signals::gpu_memory_used_ratio},
    {"thermal_slowdown_ratio", &Signals::thermal_slowdown_ratio},
    {"power_cap_ratio", &Signals::power_cap_ratio},
}};

}  // namespace

std::span<const SignalField> signal_fields() { return kFields; }

std::string_view name_of(Signal signal) {
  const auto* found = std::find_if(kFields.begin(), kFields.end(),
                                   [signal](const auto& field) { return field.signal == signal; });
  UNSTARVE_CHECK(found != kFields.end(), "every signal is in the table");
  return found->name;
}

}  // namespace unstarve::diagnose
