#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::advise {

namespace {

constexpr const char* kFind =
    "Find what the training thread does between launches (py-spy, torch.profiler with_stack) and "
    "move it out of the step: logging, metrics, checkpoints, Python loops over tensors.";

/// Where it is not known by its name: by its line, or how to find it.
std::string find_work(const Situation& situation) {
  const std::string& line = situation.line;
  if (line.empty()) return kFind;
  if (!situation.work.empty()) {
    return fmt::format(
        "Take what the training thread does at {} out of the loop: do it once, beforehand, for all "
        "of the data, or in the workers of a DataLoader.",
        line);
  }
  return fmt::format(
      "Move what the training thread does at {} out of the step: do it less often, "
      "or in another thread or process.",
      line);
}

/// The work that takes most of the long gaps, where it is known by name.
std::string move_known_work(const diagnose::Signals& signals) {
  constexpr double kMost = 0.5;
  if (signals.collection_ratio.value_or(0) >= kMost) {
    return "Collect garbage less often: no gc.collect() in the loop, gc.freeze() once everything "
           "is set up, or gc.disable() and a collection every few hundred steps.";
  }
  if (signals.save_ratio.value_or(0) >= kMost) {
    return "Save less often, or let another thread write: copy the state to host memory and save "
           "it there (torch.distributed.checkpoint.async_save does both).";
  }
  if (diagnose::emptying_ratio(signals) >= kMost) {
    return "Take torch.cuda.empty_cache() out of the loop: memory that it gives back has to be "
           "asked for again, and both wait for the GPU.";
  }
  if (signals.compile_ratio.value_or(0) >= kMost) {
    return "Have torch.compile compile once: torch.compile(..., dynamic=True), or pad batches to a "
           "few sizes (drop_last=True for the last); TORCH_LOGS=recompiles says what changed.";
  }
  if (signals.evaluation_ratio.value_or(0) >= kMost) {
    return "The gaps lie beside evaluations: evaluate less often, gather metrics on the GPU and "
           "read them once at its end.";
  }
  return "";
}

std::optional<Remedy> offer_move_host_work(const Situation& situation, std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  Remedy remedy;
  if (rule == "host_work") {
    remedy.how = move_known_work(signals);
    if (remedy.how.empty()) remedy.how = find_work(situation);
    remedy.place_unknown = remedy.how == kFind;
  } else if (rule == "launch" && !host_works_between_launches(signals) &&
             !cpus_are_taken(signals) && !allocator_holds_up(signals) &&
             !(signals.long_launch_gap_ratio && is_launch_bound(signals))) {
    remedy.how = find_work(situation);
    remedy.place_unknown = remedy.how == kFind;
  } else if (rule == "sync" && !waits_in_each_step(signals)) {
    remedy.how = fmt::format(
        "Look at what the host does where it waits for the GPU, once in {:.0f} steps: do that less "
        "often, or on a copy in another thread.",
        1 / std::max(*signals.syncs_per_step, 1e-3));
  } else {
    return std::nullopt;
  }
  return remedy;
}

/// The part of the launch time that is work known by name, which is timed and not looked at.
double known_work(const diagnose::Signals& signals) {
  double known = 0;
  for (const diagnose::NamedWork& work : diagnose::named_work(signals)) known += work.ratio;
  return std::min(known, 1.0);
}

/// Where the lines are known: the gaps in which the host is at them go. At best all of the lines'
/// time does, since the host is at them beside kernels as well as in gaps, and a step takes what
/// the host takes without them, or the device, or the loader.
predict::StepEdit edit_of_lines(const diagnose::Signals& signals, const LineTime& line,
                                double host) {
  constexpr double kLikely = 0.6;
  constexpr double kNotSeen = 0.005;  // of a step: where little remains, that matters
  const double known = known_work(signals) * *signals.launch_ratio;
  const double of_gaps = std::min(1.0, line.of_finding) * *signals.launch_ratio;
  // Timed by the hook, it is known better than by looks.
  const bool timed = known >= line.total;
  const double error = timed ? 0 : line.error;
  if (timed) host = std::max(0.0, host + line.total - line.blocked - known);
  const double others = std::max(device_share(signals), loader_share(signals));
  const double least = std::max(host - error, others);
  const double surely = std::min(std::max(of_gaps, known), 1 - least);
  const double at_best = (1 - kOtherRun) * least;
  const double at_worst = (1 + kOtherRun) * (1 - surely) + kNotSeen;
  return {.removed = {std::max(0.0, 1 - at_worst), 1 - at_best},
          .at_least = {at_best, at_best},
          .likely = kLikely};
}

/// Else of the gaps that the host spends with something else, most go; what is known by name goes
/// with its gaps. Of a host that waits for the device once in a while it is not known what it does.
Reading<predict::StepEdit> edit_move_host_work(const Situation& situation, std::string_view rule) {
  constexpr double kLeastRemoved = 0.7;
  const diagnose::Signals& signals = situation.signals;
  if (rule == "sync") return WhyAbsent::kNotSupported;
  if (!signals.launch_ratio) return signals.launch_ratio.why_absent();
  if (!signals.long_launch_gap_ratio) return signals.long_launch_gap_ratio.why_absent();
  const Reading<double> host = host_share_without(signals, situation.line_time);
  if (host && situation.line_time) {
    return edit_of_lines(signals, *situation.line_time, *host);
  }
  const double gaps = std::max(*signals.long_launch_gap_ratio, known_work(signals));
  const double loader = loader_share(signals);
  return predict::StepEdit{
      .removed = {kLeastRemoved * *signals.launch_ratio * gaps, *signals.launch_ratio},
      .at_least = {loader, loader}};
}

}  // namespace

CatalogueEntry move_host_work_remedy() {
  return {.id = "move_host_work",
          .effort = Effort::kSearch,
          .offer = offer_move_host_work,
          .edit = edit_move_host_work};
}

}  // namespace unstarve::advise
