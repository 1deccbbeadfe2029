#pragma once

#include <vector>

#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

/// Every rule there is; a new one is added in all_rules.cpp.
const std::vector<Rule>& all_rules();

// cause/: what the time went to.
Rule input_wait_rule();
Rule input_wait_from_host_rule();
Rule sync_rule();
Rule launch_rule();
Rule exposed_copy_rule();
Rule exposed_communication_rule();
Rule kernel_wait_rule();
Rule other_rule();
Rule gpu_busy_rule();

// detail/: why, inside a cause.
Rule decode_cpu_rule();
Rule python_transform_rule();
Rule storage_rule();
Rule page_cache_miss_rule();
Rule too_few_workers_rule();
Rule too_many_workers_rule();
Rule cpu_quota_rule();
Rule collate_ipc_rule();
Rule loader_startup_rule();
Rule pageable_rule();
Rule small_copies_rule();
Rule no_overlap_rule();
Rule small_batch_rule();
Rule throttled_rule();

// native/: the same of unstarve's own loader, which records its stages.
Rule slow_read_rule();
Rule slow_transform_rule();
Rule too_few_threads_rule();

// thumb/: the field's rules of thumb.
Rule gpu_low_cpu_high_rule();
Rule gpu_fluctuating_cpu_low_rule();
Rule gpu_low_cpu_low_rule();
Rule host_memory_room_rule();
Rule gpu_memory_room_rule();
Rule utilisation_30_to_50_rule();
Rule utilisation_above_70_rule();
Rule sawtooth_rule();
Rule held_down_clocks_rule();

}  // namespace unstarve::diagnose
