#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry faster_sampler_remedy() {
  return plain_entry(
      "faster_sampler", Effort::kRewrite,
      {
          {"sampler",
           "Let the sampler keep what it reads of the data set (lengths) from one epoch to the "
           "next, choose an epoch's samples at once, in NumPy, and only hand out the "
           "batches: it runs in the training thread."},
      });
}

}  // namespace unstarve::advise
