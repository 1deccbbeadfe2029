#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "base/units.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_fewer_workers(const Situation& situation, std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  if (rule != "too_many_workers" || !signals.num_workers || !signals.effective_cpus) {
    return std::nullopt;
  }
  const double workers = whole_cpus(*signals.effective_cpus);
  if (workers >= *signals.num_workers) return std::nullopt;
  Remedy remedy;
  remedy.how =
      fmt::format("Lower num_workers{} from {:.0f} to {:.0f}, one per CPU this job may use.",
                  diagnose::at(situation.job.loader_place), *signals.num_workers, workers);
  remedy.values = {{"num_workers", whole_number<std::int64_t>(workers)}};
  remedy.edit =
      fmt::format("- DataLoader(..., num_workers={:.0f})\n+ DataLoader(..., num_workers={:.0f})",
                  *signals.num_workers, workers);
  return remedy;
}

std::optional<Application> apply_fewer_workers(const Remedy& remedy) {
  const std::int64_t workers = remedy.values.at("num_workers");
  return Application{.fix = {{"num_workers", std::to_string(workers)}, {"fewer", "true"}},
                     .change = fmt::format("num_workers={} in the DataLoader", workers)};
}

}  // namespace

CatalogueEntry fewer_workers_remedy() {
  return {.id = "fewer_workers",
          .effort = Effort::kArgument,
          .offer = offer_fewer_workers,
          .apply = apply_fewer_workers};
}

}  // namespace unstarve::advise
