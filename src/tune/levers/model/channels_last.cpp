#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily channels_last_lever() {
  return {40, [](const TunedJob& /*job*/) {
            return std::vector{
                hook_lever("channels_last", Numerics::kRounding, Eases::kCompute,
                           "images and filters with channels last",
                           "model.to(memory_format=torch.channels_last), and the same for each "
                           "batch of images")};
          }};
}

}  // namespace unstarve::tune
