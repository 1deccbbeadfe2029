#include "tune/levers/family.h"
#include "tune/levers/parts/thread_counts.h"

namespace unstarve::tune {

LeverFamily threads_lever() {
  return {50, [](const TunedJob& job) {
            if (job.on_gpu()) return std::vector<Lever>();
            Lever lever = hook_lever("threads", Numerics::kExact, Eases::kThreads,
                                     "{} threads for operations on the CPU",
                                     "torch.set_num_threads({}) at the script's start");
            lever.written = lines_edit({"torch.set_num_threads({})"}, {"set_num_threads"});
            lever.by_trainer = {{"accelerate", "num_cpu_threads_per_process: {}"}};
            return thread_counts(lever, job.threads, job.cpus);
          }};
}

}  // namespace unstarve::tune
