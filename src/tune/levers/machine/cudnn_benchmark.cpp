#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily cudnn_benchmark_lever() {
  return {52, [](const TunedJob& job) {
            if (!job.on_gpu()) return std::vector<Lever>();
            Lever lever = hook_lever("cudnn_benchmark", Numerics::kRounding, Eases::kCompute,
                                     "cuDNN measures which algorithm is the fastest",
                                     "torch.backends.cudnn.benchmark = True at the script's start");
            lever.written = lines_edit({"torch.backends.cudnn.benchmark = True"}, {"cudnn"});
            lever.by_trainer = {{"lightning", "benchmark=True"}};
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
