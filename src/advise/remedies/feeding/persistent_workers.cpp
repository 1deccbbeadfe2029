#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

// Starting and ending workers takes no more of a job, whatever overlaps is counted twice.
constexpr double kMostOfTheTime = 0.8;

std::optional<Remedy> offer_persistent_workers(const Situation& situation, std::string_view rule) {
  if (rule != "loader_startup") return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with persistent_workers=True, so that they outlive an epoch.",
      diagnose::at(situation.job.loader_place));
  remedy.edit = "- DataLoader(...)\n+ DataLoader(..., persistent_workers=True)";
  return remedy;
}

/// Starting the workers goes: what was seen from the asking for an iterator to its first batch,
/// less one fetch. So does ending them, where that was not seen apart a few milliseconds each: the
/// training thread waits for them. What remains is that workers are told of the new pass and have
/// nothing ready when it begins. A process that has forked copies each page that it writes next, so
/// that the first steps of a pass are slower too: 0.8 to 1.3 times what was seen was gained in the
/// zoo (worker_index, few_shot, old_coins; docs/starving.md).
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.75;
  constexpr double kMostRemoved = 1.3;
  constexpr double kMostOfEnding = 1.1;
  constexpr predict::Range kEndingNs = {2e6, 8e6};  // a worker
  constexpr double kLikely = 0.6;
  const diagnose::Signals& signals = situation.signals;
  for (const Reading<double>* needed :
       {&signals.loader_starts, &signals.loader_start_ns, &signals.step_count,
        &signals.wait_ns_mean, &signals.wait_ratio}) {
    if (!*needed) return needed->why_absent();
  }
  const double steps_ns = *signals.step_count * *signals.wait_ns_mean / *signals.wait_ratio;
  if (!(steps_ns > 0)) return WhyAbsent::kNotObserved;
  const double workers = signals.num_workers.value_or(1);
  const predict::Range ending_ns =
      signals.loader_end_ns
          ? predict::Range{*signals.loader_end_ns, kMostOfEnding * *signals.loader_end_ns}
          : predict::Range{workers * kEndingNs.low, workers * kEndingNs.high};
  const double starts = *signals.loader_starts / steps_ns;
  const double loader = loader_share(signals);
  const auto at_most = [](double share) { return std::min(share, kMostOfTheTime); };
  return predict::StepEdit{
      .removed = {at_most(starts * kLeastRemoved * (*signals.loader_start_ns + ending_ns.low)),
                  at_most(starts * (kMostRemoved * *signals.loader_start_ns + ending_ns.high))},
      .at_least = {loader, loader},
      .likely = kLikely};
}

std::optional<Application> apply(const Remedy&) {
  return Application{.fix = {{"persistent_workers", "true"}},
                     .change = "persistent_workers=True in the DataLoader"};
}

}  // namespace

CatalogueEntry persistent_workers_remedy() {
  return {.id = "persistent_workers",
          .effort = Effort::kArgument,
          .offer = offer_persistent_workers,
          .edit = edit,
          .apply = apply};
}

}  // namespace unstarve::advise
