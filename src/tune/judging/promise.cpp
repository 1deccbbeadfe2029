#include "tune/judging/promise.h"

#include <algorithm>

namespace unstarve::tune {

namespace {

constexpr double kUnknown = 0.5;
// Another number of threads is set at once, and all of a step on a CPU is done by them.
constexpr double kThreadsOfCpu = 1;
constexpr double kCostsTime = -0.5;  // never kept for itself
constexpr double kHalf = 0.5;        // of the bytes, where a number has half as many

double saved_on_gpu(Eases eases, const StepShares& shares) {
  const double others = std::max(0.0, shares.compute - shares.products);
  switch (eases) {
    case Eases::kProducts: return shares.float_products;
    case Eases::kPrecision: return std::min(shares.compute, shares.float_products + kHalf * others);
    case Eases::kFusion:
    case Eases::kOptimizer: return others + shares.launches;
    case Eases::kLaunches:
    case Eases::kZeroing: return shares.launches;
    case Eases::kMemory: return shares.memory;
    case Eases::kCopies: return shares.copies;
    default: return shares.compute;
  }
}

double saved_on_cpu(Eases eases, const StepShares& shares) {
  const double others =
      std::max(0.0, 1 - shares.products - shares.optimizer - shares.zeroing - shares.loading);
  switch (eases) {
    case Eases::kProducts: return shares.products;
    case Eases::kCompute: return shares.products + others;
    case Eases::kPrecision: return shares.products + kHalf * others;
    case Eases::kFusion: return others;
    case Eases::kOptimizer: return shares.optimizer;
    // Into what is there a gradient is added (two reads and a write), where zeros take one write.
    case Eases::kZeroing: return 4 * shares.zeroing;
    case Eases::kHostMemory: return shares.system;
    default: return 1;
  }
}

std::optional<double> most_saved_of(const Lever& lever, const StepShares& shares) {
  if (lever.eases == Eases::kLoading) {
    if (!shares.known()) return std::nullopt;
    return shares.loading;
  }
  if (lever.eases == Eases::kThreads) return lever.most_saved;
  const bool on_cpu = lever.eases == Eases::kHostMemory || !shares.of_gpu();
  if (on_cpu && !shares.of_cpu()) return std::nullopt;
  const double saved =
      on_cpu ? saved_on_cpu(lever.eases, shares) : saved_on_gpu(lever.eases, shares);
  return std::clamp(saved, 0.0, 1.0);
}

}  // namespace

std::optional<double> most_saved(const Lever& lever, const std::vector<StepShares>& seen) {
  std::optional<double> most;
  for (const StepShares& shares : seen) {
    const std::optional<double> saved = most_saved_of(lever, shares);
    if (saved) most = std::max(most.value_or(0), *saved);
  }
  return most;
}

double promise_of(const Lever& lever, const std::vector<StepShares>& seen, bool held_up_by_loader) {
  if (lever.eases == Eases::kLoading) return held_up_by_loader ? 2 : -1;
  if (lever.saves_memory) return kCostsTime;
  const bool on_cpu = std::any_of(seen.begin(), seen.end(),
                                  [](const StepShares& shares) { return shares.of_cpu(); });
  if (lever.eases == Eases::kThreads && on_cpu) return kThreadsOfCpu;
  return most_saved(lever, seen).value_or(kUnknown);
}

double speedup_of_saving(double share) {
  constexpr double kLeft = 0.01;  // of a step, whatever is saved
  return 1 / std::max(kLeft, 1 - share);
}

}  // namespace unstarve::tune
