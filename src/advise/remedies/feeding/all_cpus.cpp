#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry all_cpus_remedy() {
  return plain_entry(
      "all_cpus", Effort::kArgument,
      {{"pinned_workers",
        "Let the workers use all CPUs: os.sched_setaffinity(0, range(os.cpu_count())) in the "
        "DataLoader's worker_init_fn, or OMP_PROC_BIND=false where an OpenMP library pinned the "
        "process that forks them."}});
}

}  // namespace unstarve::advise
