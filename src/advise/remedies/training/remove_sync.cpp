#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
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

/// The device no longer idles behind the waits. At best the host then runs so far ahead that it
/// does not idle between launches either, until a step takes what the host takes without its waits,
/// or the loader; at worst a third of the time goes to the next reason there is.
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.7;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double> host = host_share(signals);
  if (!signals.sync_ratio) return signals.sync_ratio.why_absent();
  if (!host) return host.why_absent();
  const double least = std::max(*host, loader_share(signals));
  const double between =
      signals.launch_ratio.value_or(0) * (1 - signals.long_launch_gap_ratio.value_or(0));
  return predict::StepEdit{
      .removed = {kLeastRemoved * *signals.sync_ratio, *signals.sync_ratio + between},
      .at_least = {least, least}};
}

}  // namespace

CatalogueEntry remove_sync_remedy() {
  return {.id = "remove_sync", .effort = Effort::kRewrite, .offer = offer, .edit = edit};
}

}  // namespace unstarve::advise
