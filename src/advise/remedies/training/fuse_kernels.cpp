#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry fuse_kernels_remedy() {
  return plain_entry("fuse_kernels", Effort::kRewrite,
                     {
                         {"memory_bound",
                          "Touch the memory less often: torch.compile(model) fuses elementwise "
                          "work, fused=True does an optimizer's; channels_last for convolutions, "
                          "bfloat16 halves the bytes."},
                     });
}

}  // namespace unstarve::advise
