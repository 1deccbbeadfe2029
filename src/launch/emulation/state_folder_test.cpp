#include "launch/emulation/state_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/testing/test_folder.h"

namespace unstarve::launch {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

std::size_t entries(const std::string& place) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(place), fs::directory_iterator()));
}

/// A process that does nothing, until the object goes.
class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }
  pid_t pid() const { return pid_; }
  /// It stays a zombie.
  void end_unnoticed() const {
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
};

/// A folder whose owner is gone without a word, as after SIGKILL.
std::string abandon_folder_of(pid_t job, const std::string& place) {
  const std::string path = place + "/unstarve-emulated-killed";
  fs::create_directory(path);
  std::ofstream(path + "/owner") << job << '\n';
  std::ofstream(path + "/gpu-0") << "state";
  return path;
}

TEST(StateFolder, GoesWithTheObject) {
  const TestFolder place;
  std::string path;
  {
    auto made = StateFolder::create_in({place.path()});
    ASSERT_TRUE(made) << made.error().message;
    path = made->path();
    EXPECT_THAT(path, StartsWith(place.path()));
    std::ofstream(path + "/settings.json") << "{}";
    fs::create_directory(path + "/rings");
    const StateFolder moved = *std::move(made);
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(fs::exists(path + "/settings.json"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(StateFolder, LiesInTheNextPlaceWhereTheFirstIsNotThere) {
  const TestFolder place;
  const auto made = StateFolder::create_in({place.path() + "/none", place.path()});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(fs::path(made->path()).parent_path(), place.path());
}

TEST(StateFolder, SaysWhereItCannotBeMade) {
  const auto made = StateFolder::create_in({"/nowhere/a", "/nowhere/b"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(made.error().message, testing::HasSubstr("/nowhere/a nor in /nowhere/b"));
}

TEST(StateFolder, TheNextOneTakesAwayWhatAKilledOneLeft) {
  const TestFolder place;
  Sleeper job;
  const std::string left = abandon_folder_of(job.pid(), place.path());
  { const auto next = StateFolder::create_in({place.path()}); }
  EXPECT_TRUE(fs::exists(left)) << "its job still runs";
  job.end();
  { const auto next = StateFolder::create_in({place.path()}); }
  EXPECT_FALSE(fs::exists(left));
}

TEST(StateFolder, AJobThatNobodyWaitedForHasEnded) {
  const TestFolder place;
  Sleeper job;
  const std::string left = abandon_folder_of(job.pid(), place.path());
  job.end_unnoticed();
  { const auto next = StateFolder::create_in({place.path()}); }
  EXPECT_FALSE(fs::exists(left));
}

TEST(StateFolder, OneInUseIsLeftAlone) {
  const TestFolder place;
  auto first = StateFolder::create_in({place.path()});
  ASSERT_TRUE(first);
  Sleeper ended;
  const pid_t job = ended.pid();
  ended.end();
  ASSERT_TRUE(first->belongs_to(job));
  const auto second = StateFolder::create_in({place.path()});
  EXPECT_TRUE(fs::exists(first->path())) << "its owner lives, though its job has ended";
  EXPECT_EQ(entries(place.path()), 2U);
}

TEST(StateFolder, OthersFilesAreLeftAlone) {
  const TestFolder place;
  fs::create_directory(place.path() + "/unstarve-emulated-being-made");
  fs::create_directory(place.path() + "/other");
  std::ofstream(place.path() + "/unstarve-emulated-file") << "1";
  { const auto made = StateFolder::create_in({place.path()}); }
  EXPECT_EQ(entries(place.path()), 3U);
}

}  // namespace
}  // namespace unstarve::launch
