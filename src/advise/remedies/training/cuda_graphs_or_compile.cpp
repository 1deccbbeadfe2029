#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  Remedy remedy;
  if (rule == "kernel_wait") {
    remedy.how = "Make fewer, longer kernels: torch.compile, fused optimizers, CUDA graphs.";
  } else if (rule == "launch" && is_launch_bound(situation.signals)) {
    remedy.how =
        "Launch less often: torch.compile(model, mode='reduce-overhead') (CUDA graphs), fused "
        "optimizers (fused=True), channels_last where it saves conversions.";
  } else {
    return std::nullopt;
  }
  return remedy;
}

}  // namespace

CatalogueEntry cuda_graphs_or_compile_remedy() {
  return {.id = "cuda_graphs_or_compile", .effort = Effort::kRewrite, .offer = offer};
}

}  // namespace unstarve::advise
