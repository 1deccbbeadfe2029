#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// Where it is known how the line itself waits for nothing.
Remedy change_of_line(const Situation& situation) {
  const std::string& edit = situation.without_wait;
  Remedy remedy;
  remedy.edit = edit;
  if (edit.find("\n+") != std::string::npos) {
    remedy.beside_edit =
        "The value stays on the GPU: read it with `.item()` after the loop, or every 100 steps.";
    remedy.how = fmt::format(
        "Keep the value of {} on the GPU, and read it with .item() after the loop, or every 100 "
        "steps.",
        situation.line);
    return remedy;
  }
  const bool reads = edit.find(".item()") != std::string::npos;
  remedy.beside_edit = reads ? "Nothing uses the value that this line waits for."
                             : "The GPU keeps the order of its work without it: only a clock on "
                               "the host needs this wait.";
  remedy.how = fmt::format("Leave out {}: {}.", situation.line,
                           reads ? "nothing uses the value that it waits for"
                                 : "the GPU keeps the order of its work without it");
  return remedy;
}

/// Only where the job waits step by step: what it does seldom costs little by its waiting. Waits
/// for copies to the device have remedies of their own.
std::optional<Remedy> offer_remove_sync(const Situation& situation, std::string_view rule) {
  if (rule != "sync" || !waits_in_each_step(situation.signals)) return std::nullopt;
  if (diagnose::awaits_uploads(situation.signals)) return std::nullopt;
  if (!situation.line.empty() && !situation.without_wait.empty()) return change_of_line(situation);
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
/// does not idle between launches either, until a step takes what the host takes without these
/// lines, or the device, or the loader; at worst a third of the time goes to the next reason there
/// is. Most come between the two: what goes with a wait is the call, and the work around it.
Reading<predict::StepEdit> edit_remove_sync(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.7;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double> host = host_share_without(signals, situation.line_time);
  if (!signals.sync_ratio) return signals.sync_ratio.why_absent();
  if (!host) return host.why_absent();
  const double error = situation.line_time ? situation.line_time->error : 0;
  const double others = std::max(device_share(signals), loader_share(signals));
  const predict::Range least = {std::max(*host - error, others), std::max(*host + error, others)};
  double surely = kLeastRemoved * *signals.sync_ratio;
  double at_most = *signals.sync_ratio + signals.launch_ratio.value_or(0) *
                                             (1 - signals.long_launch_gap_ratio.value_or(0));
  // Where it is known what the lines take besides waiting, a third of the way to the best is sure:
  // looks fall on calls that wait more often than on others.
  if (situation.line_time) {
    surely += std::max(0.0, 1 - least.high - surely) / 3;
    at_most = std::max(at_most, 1 - least.low);
  }
  return predict::StepEdit{.removed = {surely, at_most}, .at_least = least};
}

}  // namespace

CatalogueEntry remove_sync_remedy() {
  return {.id = "remove_sync",
          .effort = Effort::kRewrite,
          .offer = offer_remove_sync,
          .edit = edit_remove_sync};
}

}  // namespace unstarve::advise
