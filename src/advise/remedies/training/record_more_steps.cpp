#include "advise/catalogue.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_record_more_steps(const Situation& situation, std::string_view rule) {
  if (rule != "launch" || !one_gap_dominates(situation.signals)) return std::nullopt;
  Remedy remedy;
  remedy.how =
      "Record more steps after warm-up before changing anything "
      "(torch.profiler.schedule(wait=1, warmup=2, active=10)).";
  return remedy;
}

}  // namespace

CatalogueEntry record_more_steps_remedy() {
  return {
      .id = "record_more_steps", .effort = Effort::kRecordAgain, .offer = offer_record_more_steps};
}

}  // namespace unstarve::advise
