#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_free_cpus(const Situation& situation, std::string_view rule) {
  const bool launches_late = rule == "launch" && diagnose::cpus_are_taken(situation.signals);
  if (rule != "busy_neighbour" && !launches_late) return std::nullopt;
  Remedy remedy;
  remedy.how =
      "Keep the job's CPUs for it: stop the other processes, pin them to other CPUs (taskset, "
      "cpuset), or run them at nice 19; look again before anything else is changed.";
  return remedy;
}

}  // namespace

CatalogueEntry free_cpus_remedy() {
  return {.id = "free_cpus", .effort = Effort::kRecordAgain, .offer = offer_free_cpus};
}

}  // namespace unstarve::advise
