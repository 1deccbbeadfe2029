#include "tune/patch/script_patch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"
#include "tune/levers/argument.h"
#include "tune/levers/catalogue.h"
#include "tune/patch/lever_edit.h"

namespace unstarve::tune {
namespace {

const std::string kWorkers = "DataLoader.num_workers";
const std::string kBatch = "DataLoader.batch_size";
const std::string kPath = "/job/train.py";

TrialResult job(const std::string& device) {
  TrialResult result;
  result.device = device;
  result.optimizer = "AdamW";
  return result;
}

Lever lever(const std::string& id, const TrialResult& job) {
  TunedJob tuned = {job.device, 4, 2, 4};
  tuned.optimizer = job.optimizer;
  tuned.has_cudnn_attention = job.why_not.count("sdpa_cudnn") == 0;
  for (Lever& found : levers_for(tuned, {})) {
    if (found.id == id) return found;
  }
  ADD_FAILURE() << "no lever " << id;
  return {};
}

std::vector<std::string> lines_of(const std::string& id, const TrialResult& job) {
  const auto edit = edit_for(lever(id, job), kPath, job);
  return edit ? edit->lines : std::vector<std::string>{"none"};
}

LeverResult kept(const Lever& lever) {
  LeverResult row;
  row.lever = lever;
  row.tried = true;
  row.outcome = Outcome::kKept;
  return row;
}

TEST(LeverEdit, OfAHooksLeverIsLines) {
  EXPECT_EQ(lines_of("threads=2", job("cpu")),
            std::vector<std::string>{"torch.set_num_threads(2)"});
  EXPECT_EQ(lines_of("matmul_precision", job("cpu")),
            std::vector<std::string>{"torch.set_float32_matmul_precision(\"medium\")"});
  EXPECT_EQ(lines_of("matmul_precision", job("cuda")),
            std::vector<std::string>{"torch.set_float32_matmul_precision(\"high\")"});
  EXPECT_EQ(lines_of("cudnn_benchmark", job("cuda")),
            std::vector<std::string>{"torch.backends.cudnn.benchmark = True"});
  EXPECT_EQ(lines_of("bf16_autocast", job("cuda")), std::vector<std::string>{"none"});
}

TEST(LeverEdit, OfAttentionTurnsOffWhatThisTorchHas) {
  TrialResult with = job("cuda");
  EXPECT_EQ(lines_of("sdpa_flash", with),
            (std::vector<std::string>{"torch.backends.cuda.enable_mem_efficient_sdp(False)",
                                      "torch.backends.cuda.enable_cudnn_sdp(False)"}));
  with.why_not["sdpa_cudnn"] = "this torch has none";
  EXPECT_EQ(lines_of("sdpa_flash", with),
            std::vector<std::string>{"torch.backends.cuda.enable_mem_efficient_sdp(False)"});
}

TEST(LeverEdit, OfAVariableOfTheEnvironmentIsNone) {
  EXPECT_EQ(lines_of("expandable_segments", job("cuda")), std::vector<std::string>{"none"});
}

TEST(LeverEdit, NamesTheOptimizerThatRan) {
  const auto edit = edit_for(lever("fused_optimizer", job("cpu")), kPath, job("cpu"));
  ASSERT_TRUE(edit);
  EXPECT_EQ(edit->optimizer, "AdamW");
  TrialResult unknown = job("cpu");
  unknown.optimizer = "";
  EXPECT_FALSE(edit_for(lever("fused_optimizer", unknown), kPath, unknown));
}

TEST(LeverEdit, OfAnArgumentIsWhereTheClassWasConstructed) {
  TrialResult baseline = job("cpu");
  const Lever workers = argument_lever({"workers", kWorkers, 2}, 4);
  EXPECT_FALSE(edit_for(workers, kPath, baseline));
  baseline.constructed[kWorkers] = {2, "", kPath + ":7"};
  const auto edit = edit_for(workers, kPath, baseline);
  ASSERT_TRUE(edit);
  ASSERT_EQ(edit->calls.size(), 1U);
  EXPECT_EQ(edit->calls[0].class_name, "DataLoader");
  EXPECT_EQ(edit->calls[0].line, 7);
  EXPECT_EQ(edit->calls[0].arguments.at(0),
            (std::pair<std::string, std::string>("num_workers", "4")));
  EXPECT_EQ(edit->calls[0].was->at(0), (std::pair<std::string, std::int64_t>("num_workers", 2)));
  for (const char* elsewhere : {"/elsewhere/train.py:7", "/job/train.py", ""}) {
    baseline.constructed[kWorkers].place = elsewhere;
    EXPECT_FALSE(edit_for(workers, kPath, baseline)) << elsewhere;
  }
}

TEST(LeverEdit, OfAPairIsWholeOrNone) {
  TrialResult baseline = job("cpu");
  baseline.constructed[kBatch] = {8, "", kPath + ":3"};
  const Lever batch = argument_lever({"batch", kBatch, 8}, 16);
  EXPECT_TRUE(edit_for(batch, kPath, baseline));
  const Lever option = argument_lever({"accumulation", "--accumulate", 2}, 1);
  EXPECT_FALSE(edit_for(both_levers(batch, option), kPath, baseline));
}

TEST(ScriptPatch, IsOfTheScriptThatTheCommandRuns) {
  const TestFolder folder;
  const std::string script = folder.path() + "/my train.py";
  std::ofstream(script) << "import torch\no = torch.optim.SGD(p)\n";
  TuneResult result;
  result.baseline = job("cpu");
  EXPECT_EQ(patch_of_script({"python3", script}, result).diff, "") << "nothing is kept";
  for (const char* id : {"fused_optimizer", "bf16_autocast", "threads=2"}) {
    result.levers.push_back(kept(lever(id, result.baseline)));
  }
  result.levers.push_back(kept(lever("compile", result.baseline)));
  result.levers.back().outcome = Outcome::kWithinNoise;
  const ScriptPatch made = patch_of_script({"python3", script}, result);
  EXPECT_EQ(made.text, "import torch\ntorch.set_num_threads(2)\no = torch.optim.SGD(p)\n");
  EXPECT_EQ(made.left, (std::vector<std::string>{"fused_optimizer", "bf16_autocast"}));
  EXPECT_EQ(made.script, script);
  EXPECT_EQ(made.path, script);
  EXPECT_TRUE(made.from_root);
  EXPECT_FALSE(made.diff.empty());
  EXPECT_EQ(patch_of_script({"python3", "-m", "train"}, result).diff, "");
  EXPECT_EQ(patch_of_script({"python3", folder.path() + "/none.py"}, result).diff, "");
}

}  // namespace
}  // namespace unstarve::tune
