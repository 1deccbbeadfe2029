#include "advise/known_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::advise {

namespace {

/// ... with the work that goes lighter with it.
constexpr double kSomeOfAFetch = 0.08;

constexpr std::string_view kOrCached =
    ", or keep samples in which nothing is random (`unstarve.cached(dataset)`)";

/// Reads of a file that was opened long ago find what the library knows of it: keeping a file open
/// gained more than its opening's share (bench/known_work), most of all in the zoo's galaxy_cubes.
constexpr double kMostLightened = 0.85;

/// A collate function still puts samples of many lengths together.
constexpr double kGoesFromCollate = 0.75;

/// Among a remedy's values: what of a fetch's time no longer is one's.
constexpr const char* kAtLeast = "percent_at_least";
constexpr const char* kAtMost = "percent_at_most";

double share_of(const KnownWork& work, const diagnose::Signals& signals) {
  return (signals.*work.share).value_or(0);
}

bool is_much(const KnownWork& work, const diagnose::Signals& signals) {
  const double share = share_of(work, signals);
  if (share >= kMuchOfAFetch) return true;
  if (work.lightens == nullptr || share < kSomeOfAFetch) return false;
  return share + (signals.*work.lightens).value_or(0) >= kMuchOfAFetch;
}

bool is_in_collate(const KnownWork& work, const diagnose::Signals& signals) {
  return signals.collating_work_ratio.value_or(0) > share_of(work, signals) / 2;
}

double at_least(const KnownWork& work, const diagnose::Signals& signals) {
  const double goes = is_in_collate(work, signals) ? kGoesFromCollate : 1;
  return std::max(0.0, share_of(work, signals) - kErrorOfShare) * work.goes.low * goes;
}

double at_most(const KnownWork& work, const Situation& situation) {
  const diagnose::Signals& signals = situation.signals;
  const double share = share_of(work, signals);
  const bool draws = situation.job.data.draws.value_or(true);
  double most = std::min(1.0, share + kErrorOfShare) * work.goes.high;
  if (is_in_collate(work, signals)) {
    most = std::max(most, signals.fetch_collating_ratio.value_or(0));
  } else if (work.lightens != nullptr) {
    most = std::max(most, share + kMostLightened * (signals.*work.lightens).value_or(0));
  } else if (work.makes_samples && !draws && signals.collate_ratio) {
    most = std::max(most, 1 - *signals.collate_ratio);
  }
  return std::min(1.0, most);
}

std::optional<Remedy> offer_known_work(const KnownWork& work, const Situation& situation,
                                       std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  const double share = share_of(work, signals);
  if (!is_about_waiting(rule) || !is_much(work, signals)) return std::nullopt;
  const auto percent = [](double of_fetch) { return whole_number<std::int64_t>(100 * of_fetch); };
  Remedy remedy;
  remedy.how = fmt::format(fmt::runtime(work.how), fmt::arg("share", percent_text(share)),
                           fmt::arg("cached", is_in_collate(work, signals) ? "" : kOrCached));
  remedy.values = {{kAtLeast, percent(at_least(work, signals))},
                   {kAtMost, percent(at_most(work, situation))}};
  return remedy;
}

std::optional<predict::Remedy> model_known_work(const Remedy& remedy,
                                                const PredictionBasis& basis) {
  const auto left = [&remedy](const char* goes) {
    return 1 - static_cast<double>(remedy.values.at(goes)) / 100;
  };
  return predict::lighter_fetches(basis.pipeline, {left(kAtMost), left(kAtLeast)});
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
      .model = model_known_work,
      .why_not_tried = "it takes a change of the data set's code"};
}

}  // namespace unstarve::advise
