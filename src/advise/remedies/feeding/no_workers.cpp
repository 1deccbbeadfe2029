#include <fmt/format.h>

#include "advise/catalogue.h"
#include "base/number_words.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

/// The training thread fetches: without another process's memory and queue, but with its own work
/// in between, which takes the caches.
constexpr predict::Range kFetchScale = {0.85, 1.2};

/// Batches are waited for longer than they take to make: handing them over costs more than that.
std::optional<Remedy> offer_no_workers(const Situation& situation, std::string_view rule) {
  if (rule != "input_wait" && rule != "input_wait_from_host") return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  if (diagnose::is_native(signals) || situation.job.data.is_stream) return std::nullopt;
  if (!diagnose::handing_over_takes_longer(signals)) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with num_workers=0 instead of {:.0f}: a batch takes {} to make and is "
      "waited for {}, so that handing it over costs more than making it.",
      diagnose::at(situation.job.loader_place), *signals.num_workers,
      duration_text(*signals.fetch_ns_median), duration_text(*signals.wait_ns_median));
  remedy.values = {{"num_workers", 0}};
  remedy.edit = "- DataLoader(...)\n+ DataLoader(..., num_workers=0)";
  return remedy;
}

std::optional<predict::Remedy> model_no_workers(const Remedy&, const PredictionBasis& basis) {
  if (!basis.pipeline.fetches_seen || basis.pipeline.workers < 1) return std::nullopt;
  predict::Remedy edit;
  edit.fetch_scale = kFetchScale;
  return edit;
}

std::optional<Application> apply_no_workers(const Remedy&) {
  return Application{.fix = {{"num_workers", "0"}, {"fewer", "true"}},
                     .change = "num_workers=0 in the DataLoader"};
}

}  // namespace

CatalogueEntry no_workers_remedy() {
  return {.id = "no_workers",
          .effort = Effort::kArgument,
          .offer = offer_no_workers,
          .model = model_no_workers,
          .apply = apply_no_workers};
}

}  // namespace unstarve::advise
