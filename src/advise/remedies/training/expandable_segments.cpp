#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_expandable_segments(const Situation& situation, std::string_view rule) {
  if (rule != "memory_pressure") return std::nullopt;
  Remedy remedy;
  if (situation.signals.memory_full_per_step.value_or(0) > 0) {
    remedy.how =
        "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the job's environment, so that "
        "memory kept for one size serves another; if it is still full, take smaller batches and "
        "add up the gradients of several.";
  } else {
    remedy.how =
        "Let PyTorch keep the GPU's memory that it has: take PYTORCH_NO_CUDA_MEMORY_CACHING, and "
        "garbage_collection_threshold and max_split_size_mb of PYTORCH_CUDA_ALLOC_CONF, out of the "
        "job's environment, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
  }
  return remedy;
}

/// Where the memory suffices then, nobody asks for any after the first steps, and the host, which
/// no longer waits for the GPU in each of these calls, may run ahead of it; where it does not,
/// parts of it are still given back and asked for.
Reading<predict::StepEdit> edit_expandable_segments(const Situation& situation,
                                                    std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.4;
  const diagnose::Signals& signals = situation.signals;
  if (!signals.launch_ratio) return signals.launch_ratio.why_absent();
  if (!signals.allocation_ratio) return signals.allocation_ratio.why_absent();
  const double others = std::max(device_share(signals), loader_share(signals));
  return predict::StepEdit{
      .removed = {kLeastRemoved * *signals.launch_ratio * *signals.allocation_ratio,
                  *signals.launch_ratio},
      .at_least = {others, others}};
}

}  // namespace

CatalogueEntry expandable_segments_remedy() {
  return {.id = "expandable_segments",
          .effort = Effort::kArgument,
          .offer = offer_expandable_segments,
          .edit = edit_expandable_segments};
}

}  // namespace unstarve::advise
