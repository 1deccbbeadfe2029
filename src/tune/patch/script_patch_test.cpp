#include "tune/patch/script_patch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/shell_word.h"
#include "launch/job_python.h"
#include "tune/levers/argument.h"
#include "tune/levers/catalogue.h"
#include "tune/patch/command_script.h"

namespace unstarve::tune {
namespace {

namespace fs = std::filesystem;

const std::string kWorkers = "DataLoader.num_workers";
const std::string kBatch = "DataLoader.batch_size";

class ScriptPatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("script_patch." + std::to_string(::getpid()) + "." +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "train.py").string();
    result_.baseline.device = "cpu";
    result_.baseline.optimizer = "AdamW";
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A lever of the catalogue is kept.
  void keep(const std::string& id) {
    for (const Lever& lever : levers_for({result_.baseline.device, 4, 2, 4}, {})) {
      if (lever.id == id) keep_lever(lever);
    }
  }
  /// Another value of an argument, which the job constructs with `value` at a line of the script.
  void keep_argument(const std::string& name, const std::string& option, std::int64_t value,
                     std::int64_t kept, int line) {
    result_.baseline.constructed[option] = {value, "", path_ + ":" + std::to_string(line)};
    keep_lever(argument_lever({name, option, value}, kept));
  }
  void keep_lever(const Lever& lever) {
    LeverResult row;
    row.lever = lever;
    row.tried = true;
    row.outcome = Outcome::kKept;
    result_.levers.push_back(row);
  }

  ScriptPatch patch(const std::string& source) const {
    return patch_of({source, path_}, "train.py", result_);
  }

  /// The script behind the diff, as `patch` and `git apply` make it, which have to agree, and
  /// Python has to read; what went wrong, else.
  std::string patched(const std::string& source) const {
    const ScriptPatch made = patch(source);
    if (made.diff.empty()) return "no diff";
    write("train.py", source);
    write("copy/train.py", source);
    write("tune.patch", made.diff);
    const std::string output = launch::output_of(
        "cd " + shell_word(folder_.string()) +
        " && patch -s -p1 < tune.patch && cd copy && git apply ../tune.patch"
        " && cmp train.py ../train.py && python3 -m py_compile train.py && echo both");
    return output == "both" ? read("train.py") : "not applied: " + output + "\n" + made.diff;
  }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder() const { return folder_.string(); }

  TuneResult result_;

 private:
  fs::path folder_;
  std::string path_;
};

TEST_F(ScriptPatchTest, LinesStandBehindTheFirstImportOfTorch) {
  keep("threads=2");
  keep("matmul_precision");
  const std::string lines =
      "torch.set_num_threads(2)\ntorch.set_float32_matmul_precision(\"medium\")\n";
  EXPECT_EQ(patched("import torch\nprint(1)\n"), "import torch\n" + lines + "print(1)\n");
  EXPECT_EQ(patched("import os\nimport torch, sys  # both\n"),
            "import os\nimport torch, sys  # both\n" + lines);
  EXPECT_EQ(patched("\"\"\"\nimport torch\n\"\"\"\nfrom __future__ import annotations\n\n"
                    "try:\n    import torch\nexcept ImportError:\n    raise\nimport torch\n"),
            "\"\"\"\nimport torch\n\"\"\"\nfrom __future__ import annotations\n\n"
            "try:\n    import torch\nexcept ImportError:\n    raise\nimport torch\n" +
                lines);
}

TEST_F(ScriptPatchTest, LinesEndAsTheScriptsDo) {
  keep("threads=2");
  EXPECT_EQ(patched("import torch\r\nprint(1)\r\n"),
            "import torch\r\ntorch.set_num_threads(2)\r\nprint(1)\r\n");
  EXPECT_EQ(patched("import torch"), "import torch\ntorch.set_num_threads(2)");
  EXPECT_EQ(patched("import torch\nprint(1)"), "import torch\ntorch.set_num_threads(2)\nprint(1)");
}

TEST_F(ScriptPatchTest, WithoutAnImportThatNamesTorchItStaysInWords) {
  keep("threads=2");
  for (const char* source :
       {"from torch import nn\n", "import torch as t\n", "import torch.nn as nn\n",
        "if True:\n    import torch\n", "import torch; x = 1\n", "x = '''\nimport torch\n'''\n",
        "import torch\ntorch.set_num_threads(1)\n", "import torchvision\n", ""}) {
    const ScriptPatch made = patch(source);
    EXPECT_EQ(made.diff, "") << source;
    EXPECT_EQ(made.left, std::vector<std::string>{"threads=2"}) << source;
  }
}

TEST_F(ScriptPatchTest, BackEndsOfAttentionAndCudnnAreLines) {
  result_.baseline.device = "cuda";
  result_.baseline.why_not["sdpa_cudnn"] = "this torch has none";
  keep("sdpa_flash");
  keep("cudnn_benchmark");
  keep("expandable_segments");
  EXPECT_EQ(patched("import torch\n"),
            "import torch\ntorch.backends.cuda.enable_mem_efficient_sdp(False)\n"
            "torch.backends.cudnn.benchmark = True\n");
  EXPECT_EQ(patch("import torch\n").left, std::vector<std::string>{"expandable_segments"});
  result_.baseline.why_not.clear();
  EXPECT_NE(patched("import torch\n").find("enable_cudnn_sdp(False)\n"), std::string::npos);
}

TEST_F(ScriptPatchTest, TheOnlyOptimizerIsFused) {
  keep("fused_optimizer");
  const std::string head = "import torch\n";
  EXPECT_EQ(patched(head + "o = torch.optim.AdamW(m.parameters(), lr=1e-3)\n"),
            head + "o = torch.optim.AdamW(m.parameters(), lr=1e-3, fused=True)\n");
  EXPECT_EQ(patched(head + "o = torch.optim.AdamW(p, fused=False, lr=1)\n"),
            head + "o = torch.optim.AdamW(p, fused=True, lr=1)\n");
  const std::string by_name = "from torch.optim import AdamW\no = AdamW(\n    p,  # all\n";
  EXPECT_EQ(patched(by_name + "    lr=1,  # high\n)\n"),
            by_name + "    lr=1,  # high\n    fused=True,\n)\n");
  EXPECT_EQ(patched(by_name + "    lr=1  # high\n)\n"),
            by_name + "    lr=1, fused=True  # high\n)\n");
  for (const char* imports :
       {"import torch.optim as optim\n", "from torch import nn, optim\n",
        "import os; from torch import (\n    nn,\n    optim,\n)\nfrom x import AdamW\n"}) {
    const std::string before = std::string(imports) + "o = optim.AdamW(p, lr=1";
    EXPECT_EQ(patched(before + ",)"), before + ", fused=True)");
  }
}

TEST_F(ScriptPatchTest, AnOptimizerThatOthersMayHaveMadeStaysInWords) {
  keep("fused_optimizer");
  for (const char* imports :
       {"from torch import nn\nfrom mine import optim",
        "from torch import optim as o, nn\noptim = 1",
        "from torch import optim\nimport mine.optim as optim", "import torch.optim as optimizers",
        "from torch import optim\nfrom mine import *"}) {
    EXPECT_EQ(patch(imports + std::string("\na = optim.AdamW(p)\n")).diff, "") << imports;
  }
  for (const char* imports :
       {"from torch.optim.lr_scheduler import LambdaLR\nfrom transformers import AdamW",
        "from torch.optim import SGD, AdamW as A",
        "from torch.optim import AdamW\nfrom b import AdamW"}) {
    EXPECT_EQ(patch(imports + std::string("\na = AdamW(p)\n")).diff, "") << imports;
  }
}

TEST_F(ScriptPatchTest, AnOptimizerThatIsNotCertainStaysInWords) {
  keep("fused_optimizer");
  for (const char* call :
       {"a = torch.optim.AdamW(p)\nb = torch.optim.AdamW(q)", "a = torch.optim.AdamW(**options)",
        "a = torch.optim.AdamW(p, foreach=True)", "a = AdamW(p)", "a = other.AdamW(p)",
        "a = torch.optim.AdamW(x for x in p)", "a = torch.optim.SGD(p)", "class A(MyAdamW): pass",
        "a = torch.optim.AdamW(p)\nb = torch.optim.SGD(q)", "a = torch.optim.AdamW(p"}) {
    EXPECT_EQ(patch("import torch\n" + std::string(call) + "\n").diff, "") << call;
  }
}

TEST_F(ScriptPatchTest, ArgumentsOfALoaderAreGivenOrReplaced) {
  keep_argument("workers", kWorkers, 0, 4, 2);
  keep_argument("batch", kBatch, 8, 32, 2);
  const std::string head = "import torch.utils.data as d\n";
  const std::string call = "l = d.DataLoader(";
  EXPECT_EQ(patched(head + call + "r, 8, shuffle=True)\n"),
            head + call + "r, 32, shuffle=True, num_workers=4)\n");
  EXPECT_EQ(patched(head + call + "r, num_workers=0, batch_size=8)\n"),
            head + call + "r, num_workers=4, batch_size=32)\n");
  EXPECT_EQ(
      patched(head + call + "\r\n    r,\r\n    batch_size=8,  # small, so\r\n)\r\n"),
      head + call + "\r\n    r,\r\n    batch_size=32,  # small, so\r\n    num_workers=4,\r\n)\r\n");
  EXPECT_EQ(patched(head + call + "r, 8, True, None, None, 0)\n"),
            head + call + "r, 32, True, None, None, 4)\n");
}

TEST_F(ScriptPatchTest, AnArgumentThatIsNotANumberInOneCallStaysInWords) {
  keep_argument("workers", kWorkers, 2, 4, 1);
  for (const char* source :
       {"l = DataLoader(r, num_workers=options.workers)\n", "l = DataLoader(r, **options)\n",
        "l = DataLoader(r, num_workers=2)\nm = DataLoader(s, num_workers=2)\n", "l = make(r)\n",
        "l = DataLoader(r, 8, True, None, None, workers)\n", "l = DataLoader(*r)\n",
        "class Mine(DataLoader): pass\nl = Mine(r)\n", "\nl = DataLoader(r, num_workers=2)\n"}) {
    EXPECT_EQ(patch(source).diff, "") << source;
  }
  const std::string source = "l = DataLoader(r, num_workers=2)\n";
  EXPECT_NE(patch(source).diff, "");
  result_.baseline.constructed[kWorkers].place = "/elsewhere/train.py:1";
  EXPECT_EQ(patch(source).diff, "") << "the call that ran is in another file";
  result_.baseline.constructed[kWorkers].place = "";
  EXPECT_EQ(patch(source).diff, "");
}

TEST_F(ScriptPatchTest, TrainersGetTheirs) {
  keep_argument("accumulation", "Trainer.accumulate_grad_batches", 1, 2, 2);
  EXPECT_EQ(patched("import lightning as L\nt = L.Trainer()\n"),
            "import lightning as L\nt = L.Trainer(accumulate_grad_batches=2)\n");
  const std::string option = "TrainingArguments.dataloader_num_workers";
  keep_argument("workers", option, 0, 2, 3);
  EXPECT_EQ(patched("import lightning as L\nt = L.Trainer()\n"
                    "a = Seq2SeqTrainingArguments('out', bf16=True)\n"),
            "import lightning as L\nt = L.Trainer(accumulate_grad_batches=2)\n"
            "a = Seq2SeqTrainingArguments('out', bf16=True, dataloader_num_workers=2)\n");
}

TEST_F(ScriptPatchTest, APairIsWrittenWholeOrNotAtAll) {
  result_.baseline.constructed[kBatch] = {8, "", "/elsewhere:3"};
  result_.baseline.constructed[kWorkers] = {};
  keep_lever(both_levers(argument_lever({"batch", kBatch, 8}, 16),
                         argument_lever({"accumulation", "--accumulate", 2}, 1)));
  EXPECT_EQ(patch("l = DataLoader(r, 8)\n").diff, "") << "an option is on the command line";
}

TEST_F(ScriptPatchTest, ChangesFarApartAreHunksOfTheirOwn) {
  keep("threads=2");
  keep("fused_optimizer");
  std::string middle;
  for (int i = 0; i < 20; ++i) middle += "x" + std::to_string(i) + " = " + std::to_string(i) + "\n";
  const std::string optimizer = "o = torch.optim.AdamW(p)\n";
  EXPECT_EQ(patched("import torch\n" + middle + optimizer + middle),
            "import torch\ntorch.set_num_threads(2)\n" + middle +
                "o = torch.optim.AdamW(p, fused=True)\n" + middle);
  const std::string diff = patch("import torch\n" + middle + optimizer).diff;
  EXPECT_EQ(diff.find("--- a/train.py\n+++ b/train.py\n@@ -1,4 +1,5 @@\n import torch\n+torch.s"),
            0U)
      << diff;
  EXPECT_NE(diff.find("@@ -19,4 +20,4 @@\n x17 = 17\n"), std::string::npos) << diff;
}

TEST_F(ScriptPatchTest, WithNothingKeptThereIsNone) {
  EXPECT_EQ(patch("import torch\n").diff, "");
  EXPECT_TRUE(patch("import torch\n").left.empty());
}

TEST_F(ScriptPatchTest, AScriptIsReadWhereverItLies) {
  keep("threads=2");
  const std::string script = folder() + "/my train.py";
  write("my train.py", "import torch\n");
  const ScriptPatch made = patch_of_script({"python", script}, result_);
  EXPECT_TRUE(made.from_root);
  EXPECT_EQ(made.script, script);
  write("tune.patch", made.diff);
  launch::output_of("patch -s -p1 -d / -i " + shell_word(folder() + "/tune.patch"));
  EXPECT_EQ(read("my train.py"), "import torch\ntorch.set_num_threads(2)\n");
  EXPECT_EQ(patch_of_script({"python", "-m", "train"}, result_).diff, "");
  EXPECT_EQ(patch_of_script({"python", folder() + "/none.py"}, result_).diff, "");
}

TEST(CommandScript, IsWhatPythonRuns) {
  EXPECT_EQ(script_of({"python", "train.py", "--x"}), "train.py");
  EXPECT_EQ(script_of({"/usr/bin/python3.11", "-u", "-X", "dev", "-Wignore", "a/b.py"}), "a/b.py");
  EXPECT_EQ(script_of({"./train.py", "--x"}), "./train.py");
  for (const std::vector<std::string>& other : {std::vector<std::string>{},
                                                {"python"},
                                                {"python", "-m", "train"},
                                                {"python", "-uc", "x"},
                                                {"torchrun", "train.py"},
                                                {"python", "-"},
                                                {"bash", "-c", "python train.py"}}) {
    EXPECT_EQ(script_of(other), "");
  }
}

}  // namespace
}  // namespace unstarve::tune
