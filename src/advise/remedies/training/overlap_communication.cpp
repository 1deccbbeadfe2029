#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry overlap_communication_remedy() {
  return plain_entry("overlap_communication", Effort::kArgument,
                     {
                         {"exposed_communication",
                          "Let gradients travel during backward: DistributedDataParallel with "
                          "gradient_as_bucket_view=True and a bucket_cap_mb that gives several "
                          "buckets, FSDP with backward_prefetch; accumulate under no_sync()."},
                     });
}

}  // namespace unstarve::advise
