#include "launch/command_script.h"

#include <gtest/gtest.h>

namespace unstarve::launch {
namespace {

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
}  // namespace unstarve::launch
