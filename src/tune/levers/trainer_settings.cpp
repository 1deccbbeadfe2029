#include "tune/levers/trainer_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace unstarve::tune {

namespace {

/// `name`: a lever's, without its value; {} in `setting` stands for that.
struct Setting {
  std::string_view trainer;
  std::string_view lever;
  std::string_view setting;
  std::string_view device = {};  // where it is only for one
};

constexpr std::array<Setting, 22> kSettings = {{
    {"transformers", "bf16_autocast", "bf16=True"},
    {"transformers", "fp16_autocast", "fp16=True"},
    {"transformers", "matmul_precision", "tf32=True", "cuda"},
    {"transformers", "fused_optimizer", "optim=\"adamw_torch_fused\""},
    {"transformers", "compile", "torch_compile=True"},
    {"transformers", "compile_reduce_overhead",
     "torch_compile=True, torch_compile_mode=\"reduce-overhead\""},
    {"transformers", "compile_max_autotune",
     "torch_compile=True, torch_compile_mode=\"max-autotune\""},
    {"transformers", "liger", "use_liger_kernel=True"},
    {"transformers", "workers", "dataloader_num_workers={}"},
    {"transformers", "batch", "per_device_train_batch_size={}"},
    {"transformers", "accumulation", "gradient_accumulation_steps={}"},
    {"lightning", "accumulation", "accumulate_grad_batches={}"},
    {"lightning", "bf16_autocast", "precision=\"bf16-mixed\""},
    {"lightning", "fp16_autocast", "precision=\"16-mixed\""},
    {"lightning", "cudnn_benchmark", "benchmark=True"},
    {"accelerate", "bf16_autocast", "mixed_precision: bf16"},
    {"accelerate", "fp16_autocast", "mixed_precision: fp16"},
    {"accelerate", "compile", "dynamo_config: {{dynamo_backend: INDUCTOR, dynamo_mode: default}}"},
    {"accelerate", "compile_reduce_overhead",
     "dynamo_config: {{dynamo_backend: INDUCTOR, dynamo_mode: reduce-overhead}}"},
    {"accelerate", "compile_max_autotune",
     "dynamo_config: {{dynamo_backend: INDUCTOR, dynamo_mode: max-autotune}}"},
    {"accelerate", "compile_regions",
     "dynamo_config: {{dynamo_backend: INDUCTOR, dynamo_use_regional_compilation: true}}"},
    {"accelerate", "threads", "num_cpu_threads_per_process: {}", "cpu"},
}};

/// `change`: a word of a lever's id, as "threads=2".
std::string setting_of(std::string_view trainer, std::string_view device,
                       const std::string& change) {
  const std::string name = change.substr(0, change.find('='));
  const std::string value = name == change ? "" : change.substr(name.size() + 1);
  for (const Setting& setting : kSettings) {
    if (setting.trainer != trainer || setting.lever != name) continue;
    if (!setting.device.empty() && setting.device != device) continue;
    return fmt::format(fmt::runtime(setting.setting), value);
  }
  return {};
}

/// Where the job runs on several GPUs at once, the trainer's loader holds the batches of all.
bool is_batch_of_loader(const Lever& lever, const std::string& change) {
  return change.starts_with("batch=") &&
         std::any_of(lever.arguments.begin(), lever.arguments.end(), [](const auto& argument) {
           return argument.first == "DataLoader.batch_size";
         });
}

/// transformers' setting names the optimizer as well.
bool is_of_another_optimizer(const TrainedBy& by, std::string_view change) {
  return by.trainer == "transformers" && change == "fused_optimizer" && by.optimizer != "AdamW";
}

}  // namespace

std::string trainer_settings(const TrainedBy& by, const std::vector<const Lever*>& levers) {
  std::vector<std::string> settings;
  for (const Lever* const lever : levers) {
    std::istringstream changes(lever->id);
    for (std::string change; changes >> change;) {
      if (is_batch_of_loader(*lever, change) || is_of_another_optimizer(by, change)) continue;
      std::string setting = setting_of(by.trainer, by.device, change);
      if (!setting.empty()) settings.push_back(std::move(setting));
    }
  }
  if (settings.empty()) return {};
  if (by.trainer == "accelerate") {
    return fmt::format("accelerate's configuration (YAML): {}", fmt::join(settings, "; "));
  }
  return fmt::format("{}({})", by.trainer == "transformers" ? "TrainingArguments" : "Trainer",
                     fmt::join(settings, ", "));
}

}  // namespace unstarve::tune
