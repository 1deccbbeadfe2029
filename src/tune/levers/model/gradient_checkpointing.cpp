#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily gradient_checkpointing_lever() {
  return {100, [](const TunedJob& /*job*/) {
            Lever lever =
                hook_lever("gradient_checkpointing", Numerics::kExact, Eases::kCompute,
                           "activations are computed again in the backward pass, and not kept",
                           "model.gradient_checkpointing_enable() (transformers) or "
                           "model.set_grad_checkpointing() (timm) before the training");
            lever.saves_memory = true;
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
