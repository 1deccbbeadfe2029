#include "advise/known_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::advise {

namespace {

constexpr double kMuchOfAFetch = 0.3;

/// Looks are few: 20 a second, and a run of some seconds has two standard errors of this.
constexpr double kErrorOfShare = 0.08;

/// A fetch that mostly waits is not made faster by less work for the CPU.
constexpr double kMostlyOnCpu = 0.7;

/// Reads of a file that was opened long ago find what the library knows of it (an opened HDF5 file
/// answered in half the time, bench/known_work).
constexpr double kMostLightened = 0.6;

/// Among a remedy's values: the share of a fetch that is told.
constexpr const char* kPercent = "percent_of_fetch";

/// ... and of a fetch that no longer is one's at most.
constexpr const char* kPercentAtMost = "percent_of_fetch_at_most";

double at_most(const KnownWork& work, const Situation& situation) {
  const diagnose::Signals& signals = situation.signals;
  const double share = (signals.*work.share).value_or(0);
  const bool draws = situation.job.data.draws.value_or(true);
  if (work.makes_samples && !draws && signals.collate_ratio) {
    return std::max(share, 1 - *signals.collate_ratio);
  }
  const double lighter = work.lightens != nullptr ? (signals.*work.lightens).value_or(0) : 0;
  return std::min(1.0, share + kMostLightened * lighter);
}

std::optional<Remedy> offer_known_work(const KnownWork& work, const Situation& situation,
                                       std::string_view rule) {
  const double share = (situation.signals.*work.share).value_or(0);
  if (!is_about_waiting(rule) || share < kMuchOfAFetch) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(fmt::runtime(work.how), percent_text(share));
  remedy.values = {{kPercent, whole_number<std::int64_t>(100 * share)},
                   {kPercentAtMost, whole_number<std::int64_t>(100 * at_most(work, situation))}};
  return remedy;
}

std::optional<predict::Remedy> model_known_work(const KnownWork& work, const Remedy& remedy,
                                                const PredictionBasis& basis) {
  const double cpu_s = basis.pipeline.mean_fetch_cpu_s();
  if (cpu_s < kMostlyOnCpu * (cpu_s + basis.pipeline.mean_fetch_blocked_s())) return std::nullopt;
  const double share = static_cast<double>(remedy.values.at(kPercent)) / 100;
  const double least = std::max(0.0, share - kErrorOfShare) * work.goes.low;
  const double with_it = static_cast<double>(remedy.values.at(kPercentAtMost)) / 100;
  const double most = std::max(std::min(1.0, share + kErrorOfShare) * work.goes.high, with_it);
  return predict::lighter_fetches(basis.pipeline, {1 - most, 1 - least});
}

}  // namespace

bool has_known_work(const diagnose::Signals& signals) {
  const auto& shares = diagnose::kFetchWorkShares;
  return std::any_of(shares.begin(), shares.end(), [&signals](const auto& work) {
    // Whose remedy is for decoding before it.
    if (work.work == diagnose::FetchWork::kResizing) return false;
    return (signals.*work.share).value_or(0) >= kMuchOfAFetch;
  });
}

CatalogueEntry known_work_entry(const KnownWork& work) {
  return {
      .id = work.id,
      .effort = Effort::kRewrite,
      .offer = [work](const Situation& situation,
                      std::string_view rule) { return offer_known_work(work, situation, rule); },
      .model = [work](
                   const Remedy& remedy,
                   const PredictionBasis& basis) { return model_known_work(work, remedy, basis); },
      .why_not_tried = "it takes a change of the data set's code"};
}

}  // namespace unstarve::advise
