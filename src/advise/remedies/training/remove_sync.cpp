#include <fmt/format.h>

#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// Only where the job waits step by step: what it does seldom costs little by its waiting. Waits
/// for copies to the device have remedies of their own.
std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (rule != "sync" || !waits_in_each_step(situation.signals)) return std::nullopt;
  if (diagnose::awaits_uploads(situation.signals)) return std::nullopt;
  Remedy remedy;
  if (!situation.line.empty()) {
    remedy.how = fmt::format(
        "Take the wait at {} out of the step, or do it every 100 steps and on values copied with "
        "non_blocking=True.",
        situation.line);
    return remedy;
  }
  remedy.how =
      "Take .item(), .cpu(), .tolist(), print(loss) and torch.cuda.synchronize() out of the step, "
      "or do them every 100 steps and on values copied with non_blocking=True.";
  return remedy;
}

}  // namespace

CatalogueEntry remove_sync_remedy() {
  return {.id = "remove_sync", .effort = Effort::kRewrite, .offer = offer};
}

}  // namespace unstarve::advise
