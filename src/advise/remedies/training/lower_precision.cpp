#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry lower_precision_remedy() {
  return plain_entry("lower_precision", Effort::kTrajectory,
                     {
                         {"low_precision_unused",
                          "Use the tensor cores: torch.set_float32_matmul_precision('high') and "
                          "torch.backends.cudnn.allow_tf32 = True (TF32, Ampere and later), or "
                          "torch.autocast (bfloat16; float16 with a GradScaler before Ampere). "
                          "Numbers change: compare the losses of some hundred steps."},
                     });
}

}  // namespace unstarve::advise
