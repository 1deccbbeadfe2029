#include <fmt/format.h>

#include "advise/catalogue.h"
#include "diagnose/rules/wording.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (rule != "pageable") return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with pin_memory=True and copy with .to(device, non_blocking=True).",
      diagnose::at(situation.job.loader_place));
  remedy.edit =
      "- DataLoader(dataset, ...)\n+ DataLoader(dataset, ..., pin_memory=True)\n"
      "- batch.to(device)\n+ batch.to(device, non_blocking=True)";
  return remedy;
}

/// The copies then come from page-locked memory; that they block stays with the job's source.
std::optional<Application> apply(const Remedy&) {
  return Application{.fix = {{"pin_memory", "true"}},
                     .change = "pin_memory=True in the DataLoader"};
}

}  // namespace

CatalogueEntry pin_memory_remedy() {
  return {.id = "pin_memory", .effort = Effort::kArgument, .offer = offer, .apply = apply};
}

}  // namespace unstarve::advise
