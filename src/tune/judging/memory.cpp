#include "tune/judging/memory.h"

#include <algorithm>

namespace unstarve::tune {

namespace {

constexpr double kMoreRetries = 1.5;  // than the job as it is has in a step

double share_of(const TrialResult& result) {
  if (result.total_memory_bytes <= 0) return 0;
  return static_cast<double>(result.used_memory_bytes) /
         static_cast<double>(result.total_memory_bytes);
}

/// Runs are of different length.
double retries_of_step(const TrialResult& result) {
  return static_cast<double>(result.allocator_retries) / std::max(1.0, timed_steps(result));
}

}  // namespace

Reason too_much_memory(const TrialResult& before, const TrialResult& with) {
  if (retries_of_step(with) > kMoreRetries * retries_of_step(before)) {
    return {ReasonKind::kRanOutOfMemory, {{"times", static_cast<double>(with.allocator_retries)}}};
  }
  const double share = share_of(with);
  if (share > kMostMemory && share > share_of(before)) {
    return {ReasonKind::kMemoryNearlyFull, {{"share", share}}};
  }
  return {};
}

Reason memory_for_time(const TrialResult& before, const TrialResult& with,
                       const predict::Speedup& speedup) {
  const Fact longer = {"times_as_long", 1 / speedup.speedup};
  if (before.peak_memory_bytes <= with.peak_memory_bytes || with.peak_memory_bytes <= 0) {
    return {ReasonKind::kSavesNoMemory, {longer}};
  }
  const auto had = static_cast<double>(before.peak_memory_bytes);
  return {ReasonKind::kSavesMemory,
          {{"saved_bytes", had - static_cast<double>(with.peak_memory_bytes)},
           {"of_bytes", had},
           longer}};
}

}  // namespace unstarve::tune
