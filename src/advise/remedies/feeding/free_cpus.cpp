#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry free_cpus_remedy() {
  return plain_entry("free_cpus", Effort::kEnvironment,
                     {
                         {"busy_neighbour",
                          "Keep the job's CPUs for it: stop the other processes, pin them to other "
                          "CPUs (taskset, cpuset), or run them at nice 19; look again before "
                          "anything else is changed."},
                     });
}

}  // namespace unstarve::advise
