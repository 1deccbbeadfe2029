#include "gate/base_state/worktree.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace unstarve::gate {
namespace {

namespace fs = std::filesystem;

class WorktreeTest : public testing::Test {
 protected:
  WorktreeTest() {
    std::string pattern = (fs::temp_directory_path() / "worktree-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    shell("git init -q . && git config user.email a@b && git config user.name a");
    write("job/train.py", "old\n");
    write(".gitignore", "data/\n");
    shell("git add -A && git commit -qm one");
    write("job/train.py", "new\n");
    write("job/data/images", "1");
    write("job/note.txt", "not tracked");
  }
  ~WorktreeTest() override { fs::remove_all(folder_); }

  void shell(const std::string& command) const {
    ASSERT_EQ(std::system(("cd " + folder_.string() + " && " + command).c_str()), 0) << command;
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::string job() const { return (folder_ / "job").string(); }

  fs::path folder_;
};

TEST_F(WorktreeTest, HoldsTheReferenceAndWhatGitDoesNotTrack) {
  fs::path there;
  {
    const auto base = Worktree::check_out("HEAD", job());
    ASSERT_TRUE(base) << base.error().message;
    there = base->job_folder();
    EXPECT_EQ(read(there / "train.py"), "old\n");
    EXPECT_EQ(read(there / "data/images"), "1");
    EXPECT_EQ(read(there / "note.txt"), "not tracked");
    EXPECT_FALSE(base->commit().empty());
    const fs::path script = fs::canonical(folder_) / "job/train.py";
    const auto command = base->command_there({"python", script.string(), "--out=/tmp", "x.py"});
    EXPECT_EQ(read(command[1]), "old\n") << "the base's script, not the present one";
    EXPECT_EQ(command[2], "--out=/tmp");
    EXPECT_EQ(command[3], "x.py");
  }
  EXPECT_FALSE(fs::exists(there));
  EXPECT_EQ(read(folder_ / "job/train.py"), "new\n");
  EXPECT_EQ(read(folder_ / "job/data/images"), "1") << "what was linked is there";
  EXPECT_EQ(
      std::system(("cd " + folder_.string() + " && test $(git worktree list | wc -l) = 1").c_str()),
      0);
}

TEST_F(WorktreeTest, WhatIsNoReferenceIsNamed) {
  const auto none = Worktree::check_out("no-such-branch", job());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no-such-branch"), std::string::npos);
  const auto option = Worktree::check_out("--git-dir", job());
  EXPECT_FALSE(option);
  const auto outside = Worktree::check_out("HEAD", "/");
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("no git repository"), std::string::npos);
}

}  // namespace
}  // namespace unstarve::gate
