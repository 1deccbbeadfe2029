#include <fmt/format.h>

#include <cmath>

#include "advise/catalogue.h"
#include "base/units.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_more_threads(const Situation& situation, std::string_view rule) {
  if (rule != "too_few_threads" || !situation.signals.effective_cpus) return std::nullopt;
  const double cpus = std::floor(*situation.signals.effective_cpus);
  Remedy remedy;
  remedy.how = fmt::format(
      "Let the loader{} have {:.0f} threads: num_workers of unstarve.DataLoader is the most it may "
      "use (0: one per CPU), threads=None of ImageLoader leaves the number to its controller, "
      "whose "
      "reasons explain() gives.",
      diagnose::at(situation.job.loader_place), cpus);
  remedy.values = {{"threads", whole_number<std::int64_t>(cpus)}};
  return remedy;
}

}  // namespace

CatalogueEntry more_threads_remedy() {
  return {.id = "more_threads", .effort = Effort::kArgument, .offer = offer_more_threads};
}

}  // namespace unstarve::advise
