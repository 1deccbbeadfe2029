#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_cuda_graphs_or_compile(const Situation& situation,
                                                   std::string_view rule) {
  constexpr double kMost = 0.5;
  const bool generates = situation.signals.generating_ratio.value_or(0) >= kMost;
  const bool launches_late = rule == "launch" && is_launch_bound(situation.signals);
  Remedy remedy;
  if (generates && (rule == "kernel_wait" || launches_late)) {
    remedy.how =
        "Give generate() a cache of one size, cache_implementation='static', with which "
        "transformers compiles each token's step, or generate for more prompts at a time.";
  } else if (rule == "kernel_wait") {
    remedy.how = "Make fewer, longer kernels: torch.compile, fused optimizers, CUDA graphs.";
  } else if (launches_late) {
    remedy.how =
        "Launch less often: torch.compile(model, mode='reduce-overhead') (CUDA graphs), fused "
        "optimizers (fused=True), channels_last where it saves conversions.";
    remedy.edit = "+ model = torch.compile(model, mode=\"reduce-overhead\")";
    remedy.beside_edit =
        "Behind the line that makes the model: a step's kernels are launched at once, as CUDA "
        "graphs. An optimizer with `fused=True` launches less, too.";
  } else {
    return std::nullopt;
  }
  return remedy;
}

/// Half to all of the time between kernels goes, long gaps apart: those are the host's other work.
/// At best the device computes all the time.
Reading<predict::StepEdit> edit_cuda_graphs_or_compile(const Situation& situation,
                                                       std::string_view rule) {
  constexpr double kLeastRemoved = 0.5;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double>& gaps =
      rule == "kernel_wait" ? signals.kernel_wait_ratio : signals.launch_ratio;
  if (!gaps) return gaps.why_absent();
  const double long_ones = rule == "launch" ? signals.long_launch_gap_ratio.value_or(0) : 0;
  const double loader = loader_share(signals);
  const double launching = (1 - long_ones) * not_for_memory_ratio(signals);
  return predict::StepEdit{.removed = part_of(*gaps * launching, kLeastRemoved, 1),
                           .at_least = {loader, loader}};
}

}  // namespace

CatalogueEntry cuda_graphs_or_compile_remedy() {
  return {.id = "cuda_graphs_or_compile",
          .effort = Effort::kRewrite,
          .offer = offer_cuda_graphs_or_compile,
          .edit = edit_cuda_graphs_or_compile};
}

}  // namespace unstarve::advise
