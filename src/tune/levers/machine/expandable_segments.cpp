#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily expandable_segments_lever() {
  return {50, [](const TunedJob& job) {
            if (!job.on_gpu()) return std::vector<Lever>();
            Lever lever = hook_lever("expandable_segments", Numerics::kExact, Eases::kMemory,
                                     "the allocator of GPU memory grows its segments",
                                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the "
                                     "environment of the command");
            lever.environment = {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}};
            lever.settings = R"({"set": true})";
            lever.makes_room = true;
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
