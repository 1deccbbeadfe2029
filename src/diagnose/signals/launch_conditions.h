#pragma once

#include <algorithm>
#include <vector>

#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

// What several ask of the signals about the time in which the GPU idles because the host launched
// the next work too late: in gaps between launches.

/// The part of the time in which the host launched too late that work known by name takes.
inline double known_work_ratio(const Signals& signals) {
  return signals.collection_ratio.value_or(0) + signals.save_ratio.value_or(0) +
         signals.empty_cache_ratio.value_or(0) + signals.compile_ratio.value_or(0);
}

/// Whether much of the time that the host launched too late goes to memory of the GPU, and not
/// because the job gives it back itself.
inline bool allocator_holds_up(const Signals& signals) {
  constexpr double kMuch = 0.2;
  const double ratio = signals.allocation_ratio.value_or(0);
  return ratio >= kMuch && signals.empty_cache_ratio.value_or(0) < ratio / 2;
}

/// What is left of it, in long gaps as in short ones, without calls about the GPU's memory.
inline double not_for_memory_ratio(const Signals& signals) {
  return allocator_holds_up(signals) ? 1 - *signals.allocation_ratio : 1;
}

/// Whether one gap makes most of the time that the host launched too late: an event, no loop. Not
/// where it is known what the host did in it.
inline bool one_gap_dominates(const Signals& signals) {
  constexpr double kOneGap = 0.5;
  return known_work_ratio(signals) < kOneGap &&
         signals.longest_launch_gap_ratio.value_or(0) >= kOneGap;
}

/// Of the time that the GPU idles because the host launched too late, what follows from nothing
/// else that was seen.
inline double own_launch_ratio(const Signals& signals) {
  return signals.launch_ratio.value_or(0) - signals.launch_after_sync_ratio.value_or(0) -
         signals.launch_beside_loading_ratio.value_or(0);
}

/// The part of that which lies in long gaps: to wait for a CPU takes long, to catch up after a wait
/// for the device does not.
inline double long_gap_ratio(const Signals& signals) {
  const double own = own_launch_ratio(signals);
  const double long_gaps = signals.long_launch_gap_ratio.value_or(0);
  if (!signals.launch_ratio || own <= 0) return long_gaps;
  const double left =
      long_gaps * *signals.launch_ratio - signals.launch_beside_loading_ratio.value_or(0);
  return std::clamp(left / own, 0.0, 1.0);
}

/// Whether much of the time in which the host launched too late lies in gaps so long that it did
/// something else, and did not wait for a CPU that others use.
inline bool host_works_between_launches(const Signals& signals) {
  constexpr double kMuch = 0.3;
  if (cpus_are_taken(signals) && known_work_ratio(signals) < kMuch) return false;
  return long_gap_ratio(signals) * not_for_memory_ratio(signals) >= kMuch;
}

/// The part of that which lies in short gaps, each as long as a launch takes the host.
inline double short_gap_ratio(const Signals& signals) {
  return (1 - long_gap_ratio(signals)) * not_for_memory_ratio(signals);
}

/// Whether most of it does.
inline bool launching_takes_long(const Signals& signals) {
  constexpr double kMost = 0.5;
  return short_gap_ratio(signals) > kMost;
}

/// Work of the host that is known by name, and its share of the time in which it launched too late.
struct NamedWork {
  const char* words;
  double ratio;
};

/// What torch.cuda.empty_cache() takes: the call, and the memory that is asked for again after it.
/// The calls that give it back lie in both ratios.
inline double emptying_ratio(const Signals& signals) {
  const double call = signals.empty_cache_ratio.value_or(0);
  if (call == 0 || allocator_holds_up(signals)) return call;
  return std::max(call, signals.allocation_ratio.value_or(0));
}

/// That which takes a share worth naming, the largest first.
inline std::vector<NamedWork> named_work(const Signals& signals) {
  constexpr double kWorthNaming = 0.1;
  std::vector<NamedWork> work = {
      {"Python's garbage collector", signals.collection_ratio.value_or(0)},
      {"torch.save", signals.save_ratio.value_or(0)},
      {"torch.cuda.empty_cache() and asking for the memory again", emptying_ratio(signals)},
      {"torch.compile", signals.compile_ratio.value_or(0)},
      {"what lies beside an evaluation", signals.evaluation_ratio.value_or(0)},
  };
  work.erase(std::remove_if(work.begin(), work.end(),
                            [](const NamedWork& entry) { return entry.ratio < kWorthNaming; }),
             work.end());
  std::stable_sort(work.begin(), work.end(),
                   [](const NamedWork& a, const NamedWork& b) { return a.ratio > b.ratio; });
  return work;
}

/// Whether the device gets its work in so many or so short pieces that launching them is the work.
inline bool launches_small_work(const Signals& signals) {
  // Kernels this short are over before Python has launched the next one.
  constexpr double kShortKernelNs = 20e3;
  constexpr double kManyLaunches = 100;
  return signals.kernel_ns_median.value_or(kShortKernelNs) < kShortKernelNs ||
         signals.launches_per_step.value_or(0) >= kManyLaunches;
}

/// Whether launching that work is what takes the host so long.
inline bool is_launch_bound(const Signals& signals) {
  return launches_small_work(signals) && launching_takes_long(signals);
}

}  // namespace unstarve::diagnose
