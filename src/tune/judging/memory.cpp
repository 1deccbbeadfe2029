#include "tune/judging/memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace unstarve::tune {

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
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

std::string too_much_memory(const TrialResult& before, const TrialResult& with) {
  if (retries_of_step(with) > kMoreRetries * retries_of_step(before)) {
    return fmt::format("it ran out of memory {} {} and went on with what PyTorch had kept",
                       with.allocator_retries, with.allocator_retries == 1 ? "time" : "times");
  }
  const double share = share_of(with);
  if (share > kMostMemory && share > share_of(before)) {
    return fmt::format("it takes {:.0f} % of the GPU's memory; another step may not fit",
                       100 * share);
  }
  return {};
}

std::string memory_for_time(const TrialResult& before, const TrialResult& with,
                            const predict::Speedup& speedup) {
  std::string saved = "saves no memory that is seen";
  if (before.peak_memory_bytes > with.peak_memory_bytes && with.peak_memory_bytes > 0) {
    const auto had = static_cast<double>(before.peak_memory_bytes);
    saved = fmt::format("saves {:.2f} of {:.2f} GiB",
                        (had - static_cast<double>(with.peak_memory_bytes)) / kGiB, had / kGiB);
  }
  return fmt::format("{}, and a step takes {:.2f} times as long: for a larger batch alone", saved,
                     1 / speedup.speedup);
}

}  // namespace unstarve::tune
