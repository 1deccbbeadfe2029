#include <fmt/format.h>

#include "advise/catalogue.h"
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

std::optional<Application> apply(const Remedy&) {
  return Application{.fix = {{"persistent_workers", "true"}},
                     .change = "persistent_workers=True in the DataLoader"};
}

}  // namespace

CatalogueEntry persistent_workers_remedy() {
  return {
      .id = "persistent_workers", .effort = Effort::kArgument, .offer = offer, .apply = apply};
}

}  // namespace unstarve::advise
