#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily pinned_copies_lever() {
  return {51, [](const TunedJob& job) {
            if (!job.on_gpu()) return std::vector<Lever>();
            return std::vector{
                hook_lever("pinned_copies", Numerics::kExact, Eases::kCopies,
                           "batches in pinned memory, copied to the GPU without waiting",
                           "pin_memory=True in the DataLoader's arguments, and non_blocking=True "
                           "in the copies of its batches to the GPU")};
          }};
}

}  // namespace unstarve::tune
