#include "tune/judging/parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace unstarve::tune {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"ok", "failed", "not_observed", "not_needed"};
constexpr std::size_t kWindow = 5;

/// How far the first losses, and norms of gradients, may be off.
struct Tolerance {
  double loss;
  double gradient;
};

Tolerance tolerance_of(Numerics numerics) {
  const bool same = numerics == Numerics::kExact || numerics == Numerics::kRegrouped;
  return same ? Tolerance{1e-3, 1e-2} : Tolerance{2e-2, 1e-1};
}

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double one) { return std::isfinite(one); });
}

/// The largest of the differences among the first values, in relation to their mean size.
double early_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  const std::size_t count = std::min({kWindow, ours.size(), theirs.size()});
  double size = 0;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    size += std::abs(theirs[i]) / static_cast<double>(count);
    largest = std::max(largest, std::abs(ours[i] - theirs[i]));
  }
  if (largest == 0) return 0;
  return size > 0 ? largest / size : HUGE_VAL;
}

double mean_in(const std::vector<double>& values, std::size_t from) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(begin, begin + kWindow, 0.0) / static_cast<double>(kWindow);
}

/// Where the candidate's mean of five losses leaves what the seeds reach; empty: nowhere.
std::string leaves_band(const ParityBaseline& baseline, const TrialResult& candidate,
                        double tolerance) {
  for (std::size_t from = 0; from + kWindow <= candidate.losses.size(); from += kWindow) {
    std::vector<double> means = {mean_in(baseline.same.losses, from)};
    for (const TrialResult& seed : baseline.other_seeds) {
      if (from + kWindow <= seed.losses.size()) means.push_back(mean_in(seed.losses, from));
    }
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    const double beside = std::max((*high - *low) / 2, tolerance * std::abs(means.front()));
    const double mean = mean_in(candidate.losses, from);
    if (mean < *low - beside || mean > *high + beside) {
      return fmt::format(
          "the loss of steps {} to {} is {:.4g}; of other seeds it is {:.4g} to {:.4g}", from + 1,
          from + kWindow, mean, *low, *high);
    }
  }
  return {};
}

/// What the first steps compute, one by one; empty: the same.
std::string differs_early(const ParityBaseline& baseline, const TrialResult& candidate,
                          const Tolerance& allowed) {
  const TrialResult& same = baseline.same;
  const double loss_drift = early_difference(baseline.same_again.losses, same.losses);
  const double loss = early_difference(candidate.losses, same.losses);
  if (loss > std::max(allowed.loss, 2 * loss_drift)) {
    return fmt::format("the first losses differ by {:.2g} %", 100 * loss);
  }
  if (!all_finite(same.gradient_norms) || same.gradient_norms.empty()) return {};
  const double drift = early_difference(baseline.same_again.gradient_norms, same.gradient_norms);
  const double gradient = early_difference(candidate.gradient_norms, same.gradient_norms);
  if (candidate.gradient_norms.empty() || gradient > std::max(allowed.gradient, 2 * drift)) {
    return fmt::format("the first gradients differ by {:.2g} % in length", 100 * gradient);
  }
  return {};
}

}  // namespace

std::string_view to_string(Parity parity) { return kNames[static_cast<std::size_t>(parity)]; }

std::string why_not_observed(const ParityBaseline& baseline) {
  const std::vector<double>& losses = baseline.same.losses;
  if (losses.size() < kWindow) return "too few losses were seen by a backward()";
  const bool zero = std::all_of(losses.begin(), losses.end(), [](double one) { return one == 0; });
  if (zero) return "all losses are zero, as on an emulated GPU";
  if (!all_finite(losses)) return "the job's own losses are not finite numbers";
  if (baseline.same_again.losses.size() != losses.size()) {
    return "two runs of the same seed have different numbers of losses";
  }
  return {};
}

ParityVerdict judge_parity(const ParityBaseline& baseline, const TrialResult& candidate,
                           Numerics numerics) {
  if (candidate.ending != Ending::kMeasured) return {Parity::kFailed, candidate.why};
  if (const std::string why = why_not_observed(baseline); !why.empty()) {
    return {Parity::kNotObserved, why};
  }
  const TrialResult& same = baseline.same;
  if (candidate.losses.size() != same.losses.size()) {
    return {Parity::kFailed, fmt::format("{} losses were seen, not {}", candidate.losses.size(),
                                         same.losses.size())};
  }
  if (!all_finite(candidate.losses)) return {Parity::kFailed, "a loss is not a finite number"};
  if (candidate.rows != same.rows) {
    return {Parity::kFailed, "the model was called with another number of samples"};
  }
  const Tolerance allowed = tolerance_of(numerics);
  std::string why;
  if (numerics != Numerics::kRedrawn) why = differs_early(baseline, candidate, allowed);
  if (why.empty()) why = leaves_band(baseline, candidate, allowed.loss);
  if (!why.empty()) return {Parity::kFailed, why};
  return {Parity::kOk, "losses and gradients hold"};
}

}  // namespace unstarve::tune
