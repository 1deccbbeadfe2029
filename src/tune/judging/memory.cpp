#include "tune/judging/memory.h"

#include <fmt/format.h>

namespace unstarve::tune {

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

double share_of(const TrialResult& result) {
  if (result.total_memory_bytes <= 0) return 0;
  return static_cast<double>(result.used_memory_bytes) /
         static_cast<double>(result.total_memory_bytes);
}

}  // namespace

std::string too_much_memory(const TrialResult& before, const TrialResult& with) {
  if (with.allocator_retries > before.allocator_retries) {
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
