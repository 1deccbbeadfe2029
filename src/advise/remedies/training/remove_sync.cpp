#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry remove_sync_remedy() {
  return plain_entry("remove_sync", Effort::kRewrite,
                     {
                         {"sync",
                          "Take .item(), .cpu(), .tolist(), print(loss) and "
                          "torch.cuda.synchronize() out of the step, or do them every 100 steps "
                          "and on values copied with non_blocking=True."},
                     });
}

}  // namespace unstarve::advise
