#include "tune/judging/parity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/statistics.h"
#include "tune/judging/tensors.h"

namespace unstarve::tune {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"ok", "failed", "not_observed", "not_needed"};
constexpr std::size_t kWindow = 5;
constexpr std::size_t kMostWindows = 8;
constexpr double kDeviations = 3;
// As torch's own comparison of compiled models has it for 16 bits (benchmarks/dynamo, same()).
constexpr double kTimesOwnError = 3;
constexpr double kTimesLossOfChaos = 5;
constexpr double kAnotherGradient = 0.5;
constexpr double kOfSeeds = 0.5;            // of their deviation, in the first steps
constexpr double kBf16OverFloat32 = 65536;  // of the last bits: 2^-8 and 2^-24

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
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

double mean_size(const std::vector<double>& values, std::size_t count) {
  double size = 0;
  for (std::size_t i = 0; i < count; ++i) size += std::abs(values[i]) / static_cast<double>(count);
  return size;
}

/// The largest of the differences among the first values, in relation to their mean size.
double early_difference(const std::vector<double>& ours, const std::vector<double>& theirs,
                        std::size_t most = kWindow) {
  const std::size_t count = std::min({most, ours.size(), theirs.size()});
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(ours[i] - theirs[i]));
  }
  if (largest == 0) return 0;
  const double size = mean_size(theirs, count);
  return size > 0 ? largest / size : HUGE_VAL;
}

/// By how much the first values of runs with other seeds differ from step to step of them, in
/// relation to their mean size. `values`: losses, or lengths of gradients.
double early_spread(const ParityBaseline& baseline, std::vector<double> TrialResult::*values) {
  const std::vector<double>& same = baseline.same.*values;
  std::vector<const std::vector<double>*> runs = {&same};
  for (const TrialResult& seed : baseline.other_seeds) runs.push_back(&(seed.*values));
  std::size_t count = kWindow;
  for (const std::vector<double>* const run : runs) {
    count = std::min(count, run->size());
    if (!all_finite(*run)) return 0;
  }
  const double size = mean_size(same, count);
  if (count == 0 || runs.size() < 2 || size <= 0) return 0;
  double variance = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double mean = 0;
    for (const auto* const run : runs) mean += (*run)[i] / static_cast<double>(runs.size());
    for (const auto* const run : runs) variance += ((*run)[i] - mean) * ((*run)[i] - mean);
  }
  return std::sqrt(variance / static_cast<double>(count * (runs.size() - 1))) / size;
}

/// Losses are compared as means of so many neighbours, at most kMostWindows of them.
std::size_t window_of(std::size_t losses) { return std::max(kWindow, losses / kMostWindows); }

double mean_in(const std::vector<double>& values, std::size_t from, std::size_t window) {
  return mean(std::span(values).subspan(from, window));
}

/// What the seeds reach in one window.
struct Spread {
  std::size_t from = 0;  // its first loss
  double mean = 0;
  double variance = 0;
  std::size_t seeds = 0;
};

std::vector<Spread> spreads_of(const ParityBaseline& baseline, std::size_t window) {
  std::vector<Spread> spreads;
  const std::vector<double>& same = baseline.same.losses;
  for (std::size_t from = 0; from + window <= same.size(); from += window) {
    std::vector<double> means = {mean_in(same, from, window)};
    for (const TrialResult& seed : baseline.other_seeds) {
      if (!all_finite(seed.losses)) continue;
      if (from + window <= seed.losses.size()) means.push_back(mean_in(seed.losses, from, window));
    }
    Spread spread{from, mean_in(means, 0, means.size()), 0, means.size()};
    for (const double mean : means) spread.variance += (mean - spread.mean) * (mean - spread.mean);
    if (means.size() > 1) spread.variance /= static_cast<double>(means.size() - 1);
    spreads.push_back(spread);
  }
  return spreads;
}

/// Where the candidate's mean of some losses leaves what another seed may reach; none: nowhere.
/// Three seeds alone tell little of how far a fourth lies from them (one of four lies beyond them
/// by more than half of what they span), so that all windows together say it.
Reason leaves_band(const ParityBaseline& baseline, const TrialResult& candidate, double tolerance) {
  const std::size_t window = window_of(baseline.same.losses.size());
  const std::vector<Spread> spreads = spreads_of(baseline, window);
  double pooled = 0;
  for (const Spread& spread : spreads)
    pooled += spread.variance / static_cast<double>(spreads.size());
  for (const Spread& spread : spreads) {
    if (spread.from + window > candidate.losses.size()) break;
    const double deviation = std::sqrt(std::max(pooled, spread.variance));
    const double beside =
        std::max(kDeviations * deviation * std::sqrt(1 + 1 / static_cast<double>(spread.seeds)),
                 tolerance * std::abs(spread.mean));
    const double mean = mean_in(candidate.losses, spread.from, window);
    if (std::abs(mean - spread.mean) > beside) {
      return {ReasonKind::kLossLeavesBand,
              {count_fact("first_step", spread.from + 1),
               count_fact("last_step", spread.from + window),
               {"loss", mean},
               {"low", spread.mean - beside},
               {"high", spread.mean + beside}}};
    }
  }
  return {};
}

double distance(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double squares = 0;
  double size = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    squares += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
    size += theirs[i] * theirs[i];
  }
  return squares == 0 ? 0 : std::sqrt(squares / size);
}

/// How far the job's own first gradient is from the one that levers are held against.
double own_error(const ParityBaseline& baseline) {
  double own = has_reference(baseline) ? error_of_job(baseline) : 0;
  const std::vector<double>& same = baseline.same.gradient_sketch;
  const std::vector<double>& again = baseline.same_again.gradient_sketch;
  if (again.size() == same.size()) own = std::max(own, distance(again, same));
  return own;
}

/// What rounding to 16 bits may do to the first gradient: a model passes on what is rounded many
/// times over, as its error in float32 shows. 0: nobody knows, or nothing is rounded to so few.
double explained_by_rounding(const ParityBaseline& baseline, bool fewer_bits) {
  return fewer_bits && has_reference(baseline) ? kBf16OverFloat32 * error_of_job(baseline) : 0;
}

/// How far the first gradient is from that in FP64, or from the job's own where FP64 cannot be had
/// or draws other random numbers; none: it may be what rounding does to it.
Reason leaves_first_gradient(const ParityBaseline& baseline, const TrialResult& candidate,
                             double allowed) {
  const std::vector<double>& same = baseline.same.gradient_sketch;
  if (same.empty() || !all_finite(same)) return {};
  const std::vector<double>& ours = candidate.gradient_sketch;
  if (ours.size() != same.size() || !all_finite(ours)) return ReasonKind::kFirstGradientNotSeen;
  const bool precise = has_reference(baseline);
  const double own = own_error(baseline);
  const double away = distance(ours, precise ? baseline.reference->gradient_sketch : same);
  if (away <= allowed + kTimesOwnError * own) return {};
  return {
      ReasonKind::kFirstGradientAway,
      {{"away", away}, {"reference", precise ? "in FP64" : "of the job as it is"}, {"own", own}}};
}

/// By how much the first of these differ where that is more than `allowed`; 0: it is not. The very
/// first was computed before anything was learned. What rounds may then differ by more where other
/// seeds do by much more: in a training that begins by throwing its weights about, each step makes
/// what is rounded many times as large.
double differs_early_in(const ParityBaseline& baseline, const TrialResult& candidate,
                        std::vector<double> TrialResult::*values, double allowed, bool rounds) {
  const std::vector<double>& same = baseline.same.*values;
  const std::vector<double>& ours = candidate.*values;
  allowed = std::max(allowed, 2 * early_difference(baseline.same_again.*values, same));
  const double first = early_difference(ours, same, 1);
  if (first > allowed) return first;
  const double by_seed = rounds ? kOfSeeds * early_spread(baseline, values) : 0;
  const double difference = early_difference(ours, same);
  return difference > std::max(allowed, by_seed) ? difference : 0;
}

/// What the first steps compute, one by one; none: the same.
Reason differs_early(const ParityBaseline& baseline, const TrialResult& candidate,
                     const Tolerance& allowed, bool rounds) {
  const double loss =
      differs_early_in(baseline, candidate, &TrialResult::losses, allowed.loss, rounds);
  if (loss > 0) return {ReasonKind::kFirstLossesDiffer, {{"difference", loss}}};
  const std::vector<double>& norms = baseline.same.gradient_norms;
  if (!all_finite(norms) || norms.empty()) return {};
  if (candidate.gradient_norms.empty()) return ReasonKind::kGradientsNotSeen;
  const double gradient =
      differs_early_in(baseline, candidate, &TrialResult::gradient_norms, allowed.gradient, rounds);
  if (gradient > 0) return {ReasonKind::kGradientLengthsDiffer, {{"difference", gradient}}};
  return leaves_first_gradient(baseline, candidate, allowed.gradient);
}

}  // namespace

bool has_reference(const ParityBaseline& baseline) {
  if (!baseline.reference || baseline.reference->ending != Ending::kMeasured) return false;
  const std::vector<double>& precise = baseline.reference->gradient_sketch;
  const std::vector<double>& same = baseline.same.gradient_sketch;
  return !precise.empty() && precise.size() == same.size() && all_finite(precise) &&
         distance(same, precise) < kAnotherGradient;
}

double error_of_job(const ParityBaseline& baseline) {
  return distance(baseline.same.gradient_sketch, baseline.reference->gradient_sketch);
}

std::string_view to_string(Parity parity) { return kNames[static_cast<std::size_t>(parity)]; }

Reason why_not_observed(const ParityBaseline& baseline) {
  const std::vector<double>& losses = baseline.same.losses;
  if (losses.size() < kWindow) return ReasonKind::kFewLosses;
  const bool zero =
      std::all_of(losses.begin(), losses.end(), [](double loss) { return loss == 0; });
  if (zero) return ReasonKind::kLossesAreZero;
  if (!all_finite(losses)) return ReasonKind::kOwnLossesNotFinite;
  if (baseline.same_again.losses.size() != losses.size()) return ReasonKind::kOwnLossesDiffer;
  return {};
}

ParityVerdict judge_parity(const ParityBaseline& baseline, const TrialResult& candidate,
                           Numerics numerics, bool fewer_bits) {
  if (candidate.ending != Ending::kMeasured) return {Parity::kFailed, quoted(candidate.why)};
  if (Reason why = why_not_observed(baseline)) return {Parity::kNotObserved, std::move(why)};
  const TrialResult& same = baseline.same;
  if (candidate.losses.size() != same.losses.size()) {
    return {Parity::kFailed,
            {ReasonKind::kOtherLossCount,
             {count_fact("losses", candidate.losses.size()),
              count_fact("expected", same.losses.size())}}};
  }
  if (!all_finite(candidate.losses)) return {Parity::kFailed, ReasonKind::kLossNotFinite};
  if (candidate.rows != same.rows) return {Parity::kFailed, ReasonKind::kOtherRows};
  Tolerance allowed = tolerance_of(numerics);
  const double band = allowed.loss;
  const double explained = explained_by_rounding(baseline, fewer_bits);
  allowed.gradient = std::max(allowed.gradient, explained);
  // Such a gradient tells nothing, and after a step no loss does: the band has to.
  if (explained > 1) allowed.loss *= kTimesLossOfChaos;
  Reason why;
  if (numerics != Numerics::kRedrawn) {
    why = differs_early(baseline, candidate, allowed, numerics == Numerics::kRounding);
  }
  if (!why) why = leaves_band(baseline, candidate, band);
  if (!why) why = differs_in_calls(baseline, candidate, numerics);
  if (!why) {
    const double drift = early_difference(candidate.gradient_norms, same.gradient_norms);
    // Where rounding explains any first gradient, it explains any way.
    const bool goes_any_way = explained > 1 && numerics == Numerics::kRounding;
    why = differs_in_tensors(baseline, candidate, goes_any_way ? Numerics::kRedrawn : numerics,
                             fewer_bits, drift);
  }
  if (why) return {Parity::kFailed, std::move(why)};
  return {Parity::kOk, ReasonKind::kResultsHold};
}

}  // namespace unstarve::tune
