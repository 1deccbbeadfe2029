#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/rules/wording.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (rule != "loader_startup") return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with persistent_workers=True, so that they outlive an epoch.",
      diagnose::at(situation.job.loader_place));
  remedy.edit = "- DataLoader(...)\n+ DataLoader(..., persistent_workers=True)";
  return remedy;
}

/// Starting the workers goes; fetching the first batch of each pass stays.
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.6;
  const diagnose::Signals& signals = situation.signals;
  // Where no GPU was recorded, the training thread's wait is what is known.
  const Reading<double>& waits =
      signals.input_wait_ratio ? signals.input_wait_ratio : signals.wait_ratio;
  if (!waits) return waits.why_absent();
  if (!signals.startup_wait_ratio) return signals.startup_wait_ratio.why_absent();
  if (!signals.loader_start_ns) return signals.loader_start_ns.why_absent();
  const double waited = *waits * *signals.startup_wait_ratio;
  const double fetch_ns = signals.fetch_ns_median.value_or(0);
  const double starting = *signals.loader_start_ns / (*signals.loader_start_ns + fetch_ns);
  const double loader = loader_share(signals);
  return predict::StepEdit{.removed = {kLeastRemoved * starting * waited, waited},
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
