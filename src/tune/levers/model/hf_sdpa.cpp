#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily hf_sdpa_lever() {
  return {70, [](const TunedJob& /*job*/) {
            Lever lever = hook_lever("hf_sdpa", Numerics::kRounding, Eases::kCompute,
                                     "transformers' attention by torch's fused one",
                                     "attn_implementation=\"sdpa\" in from_pretrained(), or "
                                     "model.set_attn_implementation(\"sdpa\")");
            lever.group = kAttentions;
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
