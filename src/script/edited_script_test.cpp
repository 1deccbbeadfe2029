#include "script/edited_script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/shell_word.h"
#include "base/testing/test_folder.h"
#include "launch/job_python.h"

namespace unstarve::script {
namespace {

namespace fs = std::filesystem;

// tests/python/tuning/test_edit_script.py has what becomes of a script's text.

std::string python() { return launch::find_job_python("python3", {}).program; }

std::string written(const TestFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

ScriptEdit lines(const std::string& line) { return {{line}, {}, "", {}}; }

ScriptEdit workers(std::int64_t line, std::int64_t was) {
  CallEdit call;
  call.class_name = "DataLoader";
  call.line = line;
  call.arguments = {{"num_workers", "4"}, {"batch_size", "2"}};
  call.was = {{"num_workers", was}};
  return {{}, {}, "", {call}};
}

TEST(EditedScript, HoldsTheEditsThatAreCertain) {
  const TestFolder folder;
  const std::string path = written(folder, "my train.py", "import torch\nl = DataLoader(d)\n");
  const EditedScript edited = edit_script(
      python(), path, {lines("torch.a()"), lines(""), workers(2, 0), {{}, {}, "SGD", {}}});
  EXPECT_EQ(edited.text,
            "import torch\ntorch.a()\n\nl = DataLoader(d, num_workers=4, batch_size=2)\n");
  EXPECT_EQ(edited.refused,
            (std::vector<std::string>{"", "", "",
                                      "the script does not make one optimizer, by SGD(...)"}));
  EXPECT_EQ(edited.path, path);
  EXPECT_TRUE(edited.from_root);
  const std::string patch = written(folder, "change.patch", edited.diff);
  launch::output_of("patch -s -p1 -d / -i " + shell_word(patch));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), edited.text);
}

TEST(EditedScript, IsNamedFromTheWorkingDirectoryOn) {
  const TestFolder folder;
  const std::string path = written(folder, "train.py", "import torch\n");
  const fs::path back = fs::current_path();
  fs::current_path(fs::path(folder.path()).parent_path());
  const EditedScript edited = edit_script(python(), path, {lines("x = 1")});
  fs::current_path(back);
  const std::string name = fs::path(folder.path()).filename().string() + "/train.py";
  EXPECT_FALSE(edited.from_root);
  EXPECT_TRUE(edited.diff.starts_with("--- a/" + name + "\n+++ b/" + name + "\n")) << edited.diff;
}

TEST(EditedScript, WhatCannotBeReadGetsNone) {
  const TestFolder folder;
  const std::string path = written(folder, "train.py", "import torch\n");
  const std::string wrong = written(folder, "wrong.py", "import torch\nif\n");
  for (const auto& [program, file] :
       {std::pair{python(), wrong}, std::pair{python(), folder.path()},
        std::pair{python(), folder.path() + "/none.py"}, std::pair{std::string(), path},
        std::pair{std::string("/usr/bin/false"), path}, std::pair{std::string("echo"), path}}) {
    const EditedScript edited = edit_script(program, file, {lines("x = 1")});
    ASSERT_EQ(edited.refused.size(), 1U) << program << " " << file;
    EXPECT_NE(edited.refused[0], "") << program << " " << file;
    EXPECT_EQ(edited.diff, "");
  }
  EXPECT_EQ(edit_script(python(), path, {}).diff, "");
}

TEST(EditedScript, APlaceIsAFileAndALine) {
  const auto place = read_place("cell 3:8");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "cell 3");
  EXPECT_EQ(place->line, 8);
  for (const char* other :
       {"", "train.py", "train.py:", "train.py:8x", "train.py:99999999999999999999"}) {
    EXPECT_FALSE(read_place(other)) << other;
  }
}

}  // namespace
}  // namespace unstarve::script
