#include <fmt/format.h>

#include "advise/catalogue.h"
#include "diagnose/rules/wording.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  // Many small copies cost as much from pinned memory.
  const bool waits_for_them =
      rule == "blocking_copies" && !diagnose::makes_small_copies(situation.signals);
  if (rule != "pageable" && !waits_for_them) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with pin_memory=True and copy with .to(device, non_blocking=True).",
      diagnose::at(situation.job.loader_place));
  remedy.edit =
      "- DataLoader(dataset, ...)\n+ DataLoader(dataset, ..., pin_memory=True)\n"
      "- batch.to(device)\n+ batch.to(device, non_blocking=True)";
  return remedy;
}

}  // namespace

CatalogueEntry pin_memory_remedy() {
  return {.id = "pin_memory", .effort = Effort::kArgument, .offer = offer};
}

}  // namespace unstarve::advise
