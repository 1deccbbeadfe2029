#include <utility>

#include "tune/levers/family.h"

namespace unstarve::tune {

namespace {

Lever compiled(const std::string& name, const std::string& what, const std::string& permanent) {
  Lever lever =
      hook_lever(name, Numerics::kRounding, Eases::kFusion, "torch.compile of " + what, permanent);
  lever.group = kCompilers;
  return lever;
}

/// Of the whole model in one of torch's modes; none: the default one.
Lever of_model(const std::string& name, const std::string& what, const std::string& mode) {
  Lever lever = compiled(name, what,
                         mode.empty() ? "model = torch.compile(model) before the training"
                                      : "model = torch.compile(model, mode=\"" + mode + "\")");
  lever.by_trainer = {
      {"transformers",
       "torch_compile=True" + (mode.empty() ? "" : ", torch_compile_mode=\"" + mode + "\"")},
      {"accelerate", "dynamo_config: {dynamo_backend: INDUCTOR, dynamo_mode: " +
                         (mode.empty() ? "default" : mode) + "}"}};
  return lever;
}

}  // namespace

LeverFamily compiled_lever() {
  return {90, [](const TunedJob& job) {
            std::vector<Lever> ways = {of_model("compile", "the model", "")};
            Lever regions =
                compiled("compile_regions", "the blocks that the model repeats",
                         "block.compile() of each of the model's repeated blocks before the "
                         "training");
            regions.variant_of = "compile";
            regions.by_trainer = {{"accelerate",
                                   "dynamo_config: {dynamo_backend: INDUCTOR, "
                                   "dynamo_use_regional_compilation: true}"}};
            ways.push_back(std::move(regions));
            if (!job.on_gpu()) return ways;
            ways.push_back(of_model("compile_reduce_overhead", "the model, with CUDA graphs",
                                    "reduce-overhead"));
            ways.push_back(of_model("compile_max_autotune", "the model, with kernels tried out",
                                    "max-autotune"));
            ways.back().variant_of = "compile";
            return ways;
          }};
}

}  // namespace unstarve::tune
