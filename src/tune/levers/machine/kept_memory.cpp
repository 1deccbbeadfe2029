#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily kept_memory_lever() {
  return {52, [](const TunedJob& job) {
            if (job.on_gpu()) return std::vector<Lever>();
            Lever lever = hook_lever(
                "kept_memory", Numerics::kExact, Eases::kHostMemory,
                "glibc keeps the memory that tensors free for the next step",
                "MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1099511627776 in the environment of the "
                "command");
            lever.environment = {{"MALLOC_MMAP_MAX_", "0"},
                                 {"MALLOC_TRIM_THRESHOLD_", "1099511627776"}};
            lever.settings = R"({"set": true})";
            lever.group = kAllocators;
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
