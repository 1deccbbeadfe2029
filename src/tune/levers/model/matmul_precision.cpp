#include <fmt/format.h>

#include "tune/levers/family.h"

namespace unstarve::tune {

LeverFamily matmul_precision_lever() {
  return {21, [](const TunedJob& job) {
            const std::string line = fmt::format("torch.set_float32_matmul_precision(\"{}\")",
                                                 job.on_gpu() ? "high" : "medium");
            Lever lever = hook_lever("matmul_precision", Numerics::kRounding, Eases::kProducts,
                                     job.on_gpu() ? "products of matrices in TF32"
                                                  : "products of matrices in BF16 by oneDNN",
                                     line + " at the script's start");
            lever.group = kPrecisions;
            lever.written = lines_edit(
                {line}, {"set_float32_matmul_precision", "allow_tf32", "fp32_precision"});
            if (job.on_gpu()) lever.by_trainer = {{"transformers", "tf32=True"}};
            return std::vector{lever};
          }};
}

}  // namespace unstarve::tune
