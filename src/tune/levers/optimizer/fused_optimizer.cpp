#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily fused_optimizer_lever() {
  return {61, [](const TunedJob& job) {
            Lever lever = hook_lever("fused_optimizer", Numerics::kRounding, Eases::kOptimizer,
                                     "the optimizer's step in one kernel",
                                     "fused=True in the optimizer's arguments");
            if (!job.optimizer.empty()) lever.written.emplace().optimizer = job.optimizer;
            // Its setting names the optimizer as well.
            if (job.optimizer == "AdamW") {
              lever.by_trainer = {{"transformers", "optim=\"adamw_torch_fused\""}};
            }
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
