#include "diagnose/errors/gpu_errors.h"

#include <algorithm>

#include "base/units.h"

namespace unstarve::diagnose {

namespace {

bool is_of(const GpuErrorGroup& group, const trace::GpuErrorRow& error) {
  const bool has_instance = group.gpu_instance.has_value();
  if (has_instance != error.gpu_instance.has_value()) return false;
  if (has_instance && *group.gpu_instance != *error.gpu_instance) return false;
  return group.device == error.device && group.xid == error.xid;
}

/// Steps have numbers, so that those count that a long run no longer holds.
std::int64_t steps_before(std::int64_t t_ns, std::span<const trace::Step> steps) {
  std::int64_t ended = 0;
  for (const trace::Step& step : steps) {
    if (step.when.end_ns <= t_ns) ended = std::max(ended, step.index + 1);
  }
  return ended;
}

}  // namespace

std::vector<GpuErrorGroup> group_errors(std::span<const trace::GpuErrorRow> errors,
                                        std::int64_t run_started_ns,
                                        std::span<const trace::Step> steps) {
  std::vector<GpuErrorGroup> groups;
  for (const trace::GpuErrorRow& error : errors) {
    const auto known =
        std::find_if(groups.begin(), groups.end(),
                     [&error](const GpuErrorGroup& group) { return is_of(group, error); });
    if (known != groups.end()) {
      ++known->count;
      continue;
    }
    GpuErrorGroup group;
    group.device = error.device;
    group.xid = error.xid;
    group.gpu_instance = error.gpu_instance;
    group.count = 1;
    group.first_at_s = static_cast<double>(error.t_ns - run_started_ns) * kSecondsPerNs;
    group.after_steps = steps_before(error.t_ns, steps);
    groups.push_back(group);
  }
  return groups;
}

}  // namespace unstarve::diagnose
