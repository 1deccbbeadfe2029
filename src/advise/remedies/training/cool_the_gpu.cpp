#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_cool_the_gpu(const Situation& situation, std::string_view rule) {
  const Reading<double>& hot = situation.signals.thermal_slowdown_ratio;
  if (rule != "throttled" || hot.value_or(0) < diagnose::kClocksOftenDown) return std::nullopt;
  Remedy remedy;
  remedy.how = "Look at the node's cooling: fans, inlet temperature, neighbours.";
  return remedy;
}

}  // namespace

CatalogueEntry cool_the_gpu_remedy() {
  return {.id = "cool_the_gpu", .effort = Effort::kEnvironment, .offer = offer_cool_the_gpu};
}

}  // namespace unstarve::advise
