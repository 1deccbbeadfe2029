#include <fmt/format.h>

#include "tune/levers/family.h"

namespace unstarve::tune {

namespace {

/// `name`: of a type of torch's numbers.
Lever autocast(const std::string& hook, const std::string& what, const std::string& name,
               const TunedJob& job) {
  Lever lever = hook_lever(
      hook, Numerics::kRounding, Eases::kPrecision, "the model's forward in " + what,
      fmt::format("with torch.autocast(\"{}\", dtype=torch.{}): around the call of the model; the "
                  "loss of its output.float()",
                  job.device, name));
  lever.group = kPrecisions;
  return lever;
}

}  // namespace

LeverFamily autocast_lever() {
  return {20, [](const TunedJob& job) {
            Lever bf16 = autocast("bf16_autocast", "BF16", "bfloat16", job);
            bf16.by_trainer = {{"transformers", "bf16=True"},
                               {"lightning", "precision=\"bf16-mixed\""},
                               {"accelerate", "mixed_precision: bf16"}};
            Lever fp16 = autocast("fp16_autocast", "FP16", "float16", job);
            fp16.by_trainer = {{"transformers", "fp16=True"},
                               {"lightning", "precision=\"16-mixed\""},
                               {"accelerate", "mixed_precision: fp16"}};
            return std::vector{bf16, fp16};
          }};
}

}  // namespace unstarve::tune
