#include "tune/levers/trainer_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tune/levers/catalogue.h"

namespace unstarve::tune {
namespace {

std::string settings(const std::string& trainer, const std::string& device,
                     const std::vector<std::string>& ids, const std::string& optimizer = "AdamW") {
  TunedJob job = {device, 4, 4};
  job.optimizer = optimizer;
  const std::vector<Lever> all = levers_for(
      job, {{"workers", "--workers", 2}, {"batch", "--batch", 16}, {"accumulation", "--acc", 4}});
  std::vector<const Lever*> chosen;
  for (const std::string& id : ids) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&id](const Lever& lever) { return lever.id == id; });
    EXPECT_TRUE(found != all.end()) << id;
    if (found != all.end()) chosen.push_back(&*found);
  }
  return trainer_settings(trainer, chosen);
}

TEST(TrainerSettings, AreReadyToBeCopied) {
  EXPECT_EQ(settings("transformers", "cuda",
                     {"bf16_autocast", "matmul_precision", "compile_reduce_overhead", "workers=4"}),
            "TrainingArguments(bf16=True, tf32=True, torch_compile=True, "
            "torch_compile_mode=\"reduce-overhead\", dataloader_num_workers=4)");
  EXPECT_EQ(settings("lightning", "cuda", {"bf16_autocast", "cudnn_benchmark", "channels_last"}),
            "Trainer(precision=\"bf16-mixed\", benchmark=True)");
  EXPECT_EQ(settings("accelerate", "cpu", {"bf16_autocast", "threads=2", "compile"}),
            "accelerate's configuration (YAML): mixed_precision: bf16; "
            "num_cpu_threads_per_process: 2; "
            "dynamo_config: {dynamo_backend: INDUCTOR, dynamo_mode: default}");
}

TEST(TrainerSettings, HaveBothArgumentsOfAnAccumulation) {
  EXPECT_EQ(settings("transformers", "cuda", {"batch=64 accumulation=1"}),
            "TrainingArguments(per_device_train_batch_size=64, gradient_accumulation_steps=1)");
  EXPECT_EQ(settings("lightning", "cuda", {"batch=64 accumulation=1"}),
            "Trainer(accumulate_grad_batches=1)");
}

TEST(TrainerSettings, NameNoOtherOptimizer) {
  EXPECT_EQ(settings("transformers", "cpu", {"fused_optimizer"}),
            "TrainingArguments(optim=\"adamw_torch_fused\")");
  EXPECT_EQ(settings("transformers", "cpu", {"fused_optimizer"}, "SGD"), "");
}

TEST(TrainerSettings, SayNothingWhereThereIsNone) {
  EXPECT_EQ(settings("", "cuda", {"bf16_autocast"}), "");
  EXPECT_EQ(settings("lightning", "cuda", {"channels_last"}), "");
  EXPECT_EQ(settings("transformers", "cpu", {"matmul_precision"}), "") << "TF32 is of GPUs";
  EXPECT_EQ(settings("somebody's", "cpu", {"bf16_autocast"}), "");
}

}  // namespace
}  // namespace unstarve::tune
