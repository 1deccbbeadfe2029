#include <algorithm>

#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily others_kernels_lever() {
  return {80, [](const TunedJob& job) {
            if (!job.on_gpu()) return std::vector<Lever>();
            Lever liger =
                hook_lever("liger", Numerics::kRounding, Eases::kCompute,
                           "transformers' layers by Liger's kernels",
                           "liger_kernel.transformers' apply function of the model before it is "
                           "made");
            liger.by_trainer = {{"transformers", "use_liger_kernel=True"}};
            Lever hub = hook_lever("hub_kernels", Numerics::kRounding, Eases::kCompute,
                                   "transformers' layers by kernels of Hugging Face's hub",
                                   "use_kernels=True in from_pretrained()");
            if (std::find(job.allowed.begin(), job.allowed.end(), hub.id) == job.allowed.end()) {
              hub.missing = "it downloads code that runs in the job: --allow hub_kernels";
            }
            liger.group = hub.group = "kernels";
            return std::vector{liger, hub};
          }};
}

}  // namespace unstarve::tune
