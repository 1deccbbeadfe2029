#include "advise/catalogue.h"

namespace unstarve::advise {

namespace {

/// A question: one call for each text, as for a score, has no use for a cache.
std::optional<Remedy> offer_kept_keys_and_values(const Situation& situation,
                                                 std::string_view rule) {
  constexpr double kMuch = 0.3;
  if (rule != "gpu_busy" && rule != "kernel_wait" && rule != "launch") return std::nullopt;
  if (situation.signals.uncached_ratio.value_or(0) < kMuch) return std::nullopt;
  Remedy remedy;
  remedy.how =
      "Does the loop around the call with use_cache=False give the model what it wrote? Then have "
      "it keep its cache: pass past_key_values and the new token alone. Without it each call "
      "computes all earlier tokens again.";
  return remedy;
}

}  // namespace

CatalogueEntry kept_keys_and_values_remedy() {
  return {.id = "kept_keys_and_values",
          .effort = Effort::kArgument,
          .offer = offer_kept_keys_and_values};
}

}  // namespace unstarve::advise
