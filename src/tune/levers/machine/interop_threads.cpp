#include "tune/levers/family.h"
#include "tune/levers/parts/thread_counts.h"

namespace unstarve::tune {

LeverFamily interop_threads_lever() {
  return {51, [](const TunedJob& job) {
            if (job.on_gpu()) return std::vector<Lever>();
            Lever lever =
                hook_lever("interop_threads", Numerics::kExact, Eases::kThreads,
                           "{} threads for tasks that fork",
                           "torch.set_num_interop_threads({}) right after the import of torch");
            lever.written =
                lines_edit({"torch.set_num_interop_threads({})"}, {"set_num_interop_threads"});
            return thread_counts(lever, job.interop_threads, job.cpus);
          }};
}

}  // namespace unstarve::tune
