#include "diagnose/rules/all_rules.h"

namespace unstarve::diagnose {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> kRules = {
      input_wait_rule(),
      input_wait_from_host_rule(),
      sync_rule(),
      launch_rule(),
      exposed_copy_rule(),
      exposed_communication_rule(),
      kernel_wait_rule(),
      other_rule(),
      gpu_busy_rule(),

      decode_cpu_rule(),
      python_transform_rule(),
      storage_rule(),
      page_cache_miss_rule(),
      too_few_workers_rule(),
      too_many_workers_rule(),
      cpu_quota_rule(),
      collate_ipc_rule(),
      loader_startup_rule(),
      slow_read_rule(),
      slow_transform_rule(),
      too_few_threads_rule(),
      pageable_rule(),
      small_copies_rule(),
      no_overlap_rule(),
      small_batch_rule(),
      throttled_rule(),

      gpu_low_cpu_high_rule(),
      gpu_fluctuating_cpu_low_rule(),
      gpu_low_cpu_low_rule(),
      host_memory_room_rule(),
      gpu_memory_room_rule(),
      utilisation_30_to_50_rule(),
      utilisation_above_70_rule(),
      sawtooth_rule(),
      held_down_clocks_rule(),
  };
  return kRules;
}

RuleAnswer ask(const Rule& rule, const Signals& signals) {
  for (const Signal signal : rule.needs) {
    const Reading<double>& reading = signals.*signal;
    if (reading) continue;
    return {{},
            Abstention{std::string(rule.name), std::string(name_of(signal)), reading.why_absent()}};
  }
  return {rule.evaluate(signals), {}};
}

}  // namespace unstarve::diagnose
