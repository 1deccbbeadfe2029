#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/rules/wording.h"

namespace unstarve::advise {

namespace {

// Starting workers takes no more of a job, whatever overlaps is counted twice.
constexpr double kMostOfTheTime = 0.6;

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (rule != "loader_startup") return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with persistent_workers=True, so that they outlive an epoch.",
      diagnose::at(situation.job.loader_place));
  remedy.edit = "- DataLoader(...)\n+ DataLoader(..., persistent_workers=True)";
  return remedy;
}

/// Starting the workers goes: what was seen from the asking for an iterator to its first batch,
/// less one fetch. So does ending them: where nobody saw that, up to half as much again.
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.6;
  constexpr double kMostRemoved = 1.2;
  constexpr double kEndingTakes = 0.25;  // of what starting does
  const diagnose::Signals& signals = situation.signals;
  for (const Reading<double>* needed :
       {&signals.loader_starts, &signals.loader_start_ns, &signals.step_count,
        &signals.wait_ns_mean, &signals.wait_ratio}) {
    if (!*needed) return needed->why_absent();
  }
  const double steps_ns = *signals.step_count * *signals.wait_ns_mean / *signals.wait_ratio;
  if (!(steps_ns > 0)) return WhyAbsent::kNotObserved;
  const double ending_ns = signals.loader_end_ns.value_or(kEndingTakes * *signals.loader_start_ns);
  const double starting =
      *signals.loader_starts * (*signals.loader_start_ns + ending_ns) / steps_ns;
  const double loader = loader_share(signals);
  return predict::StepEdit{
      .removed = part_of(std::min(starting, kMostOfTheTime), kLeastRemoved, kMostRemoved),
      .at_least = {loader, loader}};
}

std::optional<Application> apply(const Remedy&) {
  return Application{.fix = {{"persistent_workers", "true"}},
                     .change = "persistent_workers=True in the DataLoader"};
}

}  // namespace

CatalogueEntry persistent_workers_remedy() {
  return {.id = "persistent_workers",
          .effort = Effort::kArgument,
          .offer = offer,
          .edit = edit,
          .apply = apply};
}

}  // namespace unstarve::advise
