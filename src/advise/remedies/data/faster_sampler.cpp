#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry faster_sampler_remedy() {
  return plain_entry("faster_sampler", Effort::kRewrite,
                     {
                         {"sampler",
                          "Choose an epoch's samples at once, in NumPy, before it begins, and let "
                          "the sampler only hand out the batches: it runs in the training thread, "
                          "between two steps."},
                     });
}

}  // namespace unstarve::advise
