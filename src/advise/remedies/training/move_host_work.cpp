#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

constexpr const char* kFind =
    "Find what the training thread does between launches (py-spy, torch.profiler with_stack) and "
    "move it out of the step: logging, metrics, checkpoints, Python loops over tensors.";

/// Where it is not known by its name: by its line, or how to find it.
std::string find_work(const std::string& line) {
  if (line.empty()) return kFind;
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
  if (signals.empty_cache_ratio.value_or(0) >= kMost) {
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

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  Remedy remedy;
  if (rule == "host_work") {
    remedy.how = move_known_work(signals);
    if (remedy.how.empty()) remedy.how = find_work(situation.line);
  } else if (rule == "launch" && !host_works_between_launches(signals) &&
             !cpus_are_taken(signals) &&
             !(signals.long_launch_gap_ratio && is_launch_bound(signals))) {
    remedy.how = find_work(situation.line);
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

/// Of the gaps that the host spends with something else, most go; what is known by name goes with
/// its gaps. At best all launches come in time then, for that work lies beside kernels as well as
/// in gaps. Of a host that waits for the device once in a while it is not known what it
/// does.
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view rule) {
  constexpr double kLeastRemoved = 0.7;
  const diagnose::Signals& signals = situation.signals;
  if (rule == "sync") return WhyAbsent::kNotSupported;
  if (!signals.launch_ratio) return signals.launch_ratio.why_absent();
  if (!signals.long_launch_gap_ratio) return signals.long_launch_gap_ratio.why_absent();
  double known = 0;
  for (const diagnose::NamedWork& work : diagnose::named_work(signals)) known += work.ratio;
  const double gaps = std::max(*signals.long_launch_gap_ratio, std::min(known, 1.0));
  const double loader = loader_share(signals);
  return predict::StepEdit{
      .removed = {kLeastRemoved * *signals.launch_ratio * gaps, *signals.launch_ratio},
      .at_least = {loader, loader}};
}

}  // namespace

CatalogueEntry move_host_work_remedy() {
  return {.id = "move_host_work", .effort = Effort::kSearch, .offer = offer, .edit = edit};
}

}  // namespace unstarve::advise
