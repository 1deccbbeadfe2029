#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_fewer_copies(const Situation& situation, std::string_view rule) {
  const bool waits_for_them =
      rule == "blocking_copies" && diagnose::makes_small_copies(situation.signals);
  if (rule != "small_copies" && !waits_for_them) return std::nullopt;
  Remedy remedy;
  remedy.how = "Put what a step needs into one buffer and copy that once.";
  return remedy;
}

}  // namespace

CatalogueEntry fewer_copies_remedy() {
  return {.id = "fewer_copies", .effort = Effort::kRewrite, .offer = offer_fewer_copies};
}

}  // namespace unstarve::advise
