#include "advise/known_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"

namespace unstarve::advise {

namespace {

constexpr double kMuchOfAFetch = 0.3;

/// Looks are few: 20 a second, and a run of some seconds has two standard errors of this.
constexpr double kErrorOfShare = 0.08;

/// A fetch that mostly waits is not made faster by less work for the CPU.
constexpr double kMostlyOnCpu = 0.7;

/// Among a remedy's values: the share of a fetch that is told.
constexpr const char* kPercent = "percent_of_fetch";

constexpr std::array<diagnose::Signal, 8> kShares = {
    &diagnose::Signals::fetch_tokenizing_ratio, &diagnose::Signals::fetch_table_rows_ratio,
    &diagnose::Signals::fetch_sound_ratio,      &diagnose::Signals::fetch_array_files_ratio,
    &diagnose::Signals::fetch_opening_ratio,    &diagnose::Signals::fetch_connecting_ratio,
    &diagnose::Signals::fetch_queries_ratio,    &diagnose::Signals::fetch_parsing_ratio};

std::optional<Remedy> offer_known_work(const KnownWork& work, const Situation& situation,
                                       std::string_view rule) {
  const double share = (situation.signals.*work.share).value_or(0);
  if (!is_about_waiting(rule) || share < kMuchOfAFetch) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(fmt::runtime(work.how), percent_text(share));
  remedy.values = {{kPercent, whole_number<std::int64_t>(100 * share)}};
  return remedy;
}

std::optional<predict::Remedy> model_known_work(const KnownWork& work, const Remedy& remedy,
                                                const PredictionBasis& basis) {
  const double cpu_s = basis.pipeline.mean_fetch_cpu_s();
  if (cpu_s < kMostlyOnCpu * (cpu_s + basis.pipeline.mean_fetch_blocked_s())) return std::nullopt;
  const double share = static_cast<double>(remedy.values.at(kPercent)) / 100;
  const double least = std::max(0.0, share - kErrorOfShare) * work.goes.low;
  const double most = std::min(1.0, share + kErrorOfShare) * work.goes.high;
  return predict::lighter_fetches(basis.pipeline, {1 - most, 1 - least});
}

}  // namespace

bool has_known_work(const diagnose::Signals& signals) {
  return std::any_of(kShares.begin(), kShares.end(), [&signals](diagnose::Signal share) {
    return (signals.*share).value_or(0) >= kMuchOfAFetch;
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
