#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry move_host_work_remedy() {
  return plain_entry("move_host_work", Effort::kSearch,
                     {
                         {"launch",
                          "Find what the training thread does between launches (py-spy, "
                          "torch.profiler with_stack) and move it out of the step: logging, "
                          "metrics, checkpoints, Python loops over tensors."},
                     });
}

}  // namespace unstarve::advise
