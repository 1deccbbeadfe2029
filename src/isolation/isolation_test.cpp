#include "isolation/isolation.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/testing/test_folder.h"
#include "isolation/trial_processes.h"
#include "isolation/write_guard.h"

namespace unstarve::isolation {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kCommand = {"python", "train.py"};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

constexpr int kNotEntered = 111;

/// A child that enters and becomes a shell.
pid_t start_shell(const ChildEntry& enter, const std::string& script,
                  const std::string& run_dir = "") {
  int entered[2];
  EXPECT_EQ(::pipe2(entered, O_CLOEXEC), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (enter) {
      const ChildFailure failure = enter();
      if (failure.os_errno != 0) ::_exit(kNotEntered);
    }
    if (!run_dir.empty()) ::setenv("UNSTARVE_RUN_DIR", run_dir.c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(112);
  }
  ::close(entered[1]);
  char none = 0;
  EXPECT_EQ(::read(entered[0], &none, 1), 0);  // the other end is closed when the shell begins
  ::close(entered[0]);
  return pid;
}

int exit_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class IsolationTest : public testing::Test {
 protected:
  IsolationTest() {
    fs::create_directories(work());
    fs::create_directories(runs());
    write(work() + "/model.pt", "weights");
    back_ = fs::current_path();
    fs::current_path(work());
  }
  ~IsolationTest() override { fs::current_path(back_); }

  std::string work() const { return folder_.path() + "/work"; }
  std::string runs() const { return folder_.path() + "/runs"; }

  int run(IsolatedTrial& trial, const std::string& script) {
    const pid_t pid = start_shell(trial.entry(), script, runs() + "/a");
    const Status started = trial.started(pid);
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    return exit_of(pid);
  }

 private:
  TestFolder folder_;
  fs::path back_;
};

/// A process that makes `path` and takes it away, over and over.
class ComingAndGoing {
 public:
  ComingAndGoing(std::string path, const std::function<bool(const char* path)>& once)
      : path_(std::move(path)), pid_(::fork()) {
    if (pid_ != 0) return;
    while (once(path_.c_str())) {
    }
    ::_exit(1);
  }
  ComingAndGoing(const ComingAndGoing&) = delete;
  ComingAndGoing& operator=(const ComingAndGoing&) = delete;
  ~ComingAndGoing() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << path_ << " came and went no longer";
    std::error_code none;
    fs::remove_all(path_, none);
  }

 private:
  std::string path_;
  pid_t pid_;
};

bool listen_once(const char* path) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  std::snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound =
      ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::unlink(path);
  ::close(file);
  return bound;
}

bool make_folder_once(const char* path) { return ::mkdir(path, 0777) == 0 && ::rmdir(path) == 0; }

enum class As { kWeAre, kOrdinaryUser, kWithoutNamespaces };

constexpr uid_t kNobody = 65534;

void refuse_namespaces() {
  std::vector<sock_filter> program = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_unshare},
                                      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter), 0);
}

class IsolationAs : public IsolationTest, public testing::WithParamInterface<As> {
 protected:
  /// In a child, which alone may become somebody else.
  void in_child(const std::function<void()>& test) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      become();
      test();
      ::_exit(HasFailure() ? 1 : 0);
    }
    EXPECT_EQ(exit_of(pid), 0);
  }

 private:
  void become() {
    if (GetParam() == As::kWithoutNamespaces) refuse_namespaces();
    if (GetParam() != As::kOrdinaryUser || ::geteuid() != 0) return;
    for (const std::string& path : {work(), runs(), work() + "/model.pt"}) {
      ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    }
    ASSERT_EQ(::chmod((work() + "/..").c_str(), 0755), 0);
    ASSERT_EQ(::setresgid(kNobody, kNobody, kNobody), 0);
    ASSERT_EQ(::setresuid(kNobody, kNobody, kNobody), 0);
    ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);  // as a program of that user is
  }
};

INSTANTIATE_TEST_SUITE_P(All, IsolationAs,
                         testing::Values(As::kWeAre, As::kOrdinaryUser, As::kWithoutNamespaces));

TEST_P(IsolationAs, WhatWasThereIsAsItWas) {
  in_child([this] {
    auto isolation = Isolation::choose(kCommand, runs(), {});
    ASSERT_TRUE(isolation) << isolation.error().message;
    auto trial = isolation->begin(runs() + "/a", kCommand, {});
    ASSERT_TRUE(trial) << trial.error().message;
    const int code = run(*trial,
                         "mkdir new && echo x > new/file; echo other > model.pt || exit 3; "
                         "cat model.pt new/file > $UNSTARVE_RUN_DIR/seen; "
                         "pwd >> $UNSTARVE_RUN_DIR/seen");
    if (isolation->means() == Means::kGuard) {
      EXPECT_NE(code, 0);
      ASSERT_FALSE(trial->check());
      EXPECT_THAT(trial->check().error().message, HasSubstr(work() + "/model.pt"));
    } else {
      EXPECT_EQ(code, 0);
      EXPECT_TRUE(trial->check());
      EXPECT_EQ(text_of(runs() + "/a/seen"), "other\nx\n" + work() + "\n");
    }
    trial->end();
    EXPECT_EQ(text_of(work() + "/model.pt"), "weights");
    EXPECT_FALSE(fs::exists(work() + "/new"));
    EXPECT_FALSE(fs::exists(runs() + "/a/written"));
  });
}

TEST_P(IsolationAs, EachTrialBeginsFromTheSameFiles) {
  in_child([this] {
    auto isolation = Isolation::choose(kCommand, runs(), {});
    ASSERT_TRUE(isolation) << isolation.error().message;
    EXPECT_TRUE(GetParam() != As::kWithoutNamespaces || isolation->means() == Means::kGuard);
    for (const char* const name : {"a", "b"}) {
      auto trial = isolation->begin(runs() + "/" + name, kCommand, {});
      ASSERT_TRUE(trial) << trial.error().message;
      EXPECT_EQ(run(*trial, "test ! -e made && mkdir made && echo x > made/x && cat model.pt"), 0);
      trial->end();
    }
  });
}

TEST_P(IsolationAs, WhatOthersTakeAwayMeanwhileIsNoFailure) {
  in_child([this] {
    auto isolation = Isolation::choose(kCommand, runs(), {});
    ASSERT_TRUE(isolation) << isolation.error().message;
    const ComingAndGoing socket(work() + "/socket", listen_once);
    const ComingAndGoing folder("/tmp/unstarve-test-" + std::to_string(::getpid()),
                                make_folder_once);
    for (int i = 0; i < 50; ++i) {
      auto trial = isolation->begin(runs() + "/" + std::to_string(i), kCommand, {});
      ASSERT_TRUE(trial) << trial.error().message;
      ASSERT_EQ(run(*trial, "true"), 0) << "trial " << i;
      trial->end();
    }
  });
}

TEST_P(IsolationAs, OneTrialAloneFindsAFileChanged) {
  in_child([this] {
    auto isolation = Isolation::choose(kCommand, runs(), {});
    ASSERT_TRUE(isolation) << isolation.error().message;
    auto trial =
        isolation->begin(runs() + "/a", kCommand, {}, {{work() + "/model.pt", "changed\n"}});
    ASSERT_EQ(trial.has_value(), isolation->can_change_files());
    if (!trial) {
      EXPECT_THAT(trial.error().message, HasSubstr(work() + "/model.pt cannot be changed"));
      return;
    }
    EXPECT_EQ(run(*trial, "cat model.pt > $UNSTARVE_RUN_DIR/seen"), 0);
    EXPECT_EQ(text_of(runs() + "/a/seen"), "changed\n");
    trial->end();
    EXPECT_EQ(text_of(work() + "/model.pt"), "weights");
  });
}

TEST_P(IsolationAs, WhatLiesInNoLayerIsNotChanged) {
  const std::string shared = "/dev/shm/unstarve-test-" + std::to_string(::getpid());
  write(shared, "everybody's");
  ASSERT_EQ(::chmod(shared.c_str(), 0666), 0);
  in_child([this, &shared] {
    auto isolation = Isolation::choose(kCommand, runs(), {});
    ASSERT_TRUE(isolation) << isolation.error().message;
    auto trial = isolation->begin(runs() + "/a", kCommand, {}, {{shared, "ours"}});
    ASSERT_EQ(trial.has_value(), isolation->can_change_files());
    if (trial) {
      EXPECT_EQ(exit_of(start_shell(trial->entry(), "true")), kNotEntered);
    }
  });
  EXPECT_EQ(text_of(shared), "everybody's");
  fs::remove(shared);
}

TEST_F(IsolationTest, AFolderThatHoldsSomethingIsNoTrials) {
  auto isolation = Isolation::choose(kCommand, runs(), {});
  ASSERT_TRUE(isolation);
  EXPECT_EQ(isolation->begin(work(), kCommand, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(IsolationTest, AJobThatStartsElsewhereIsRefused) {
  const auto isolation = Isolation::choose({"/usr/bin/srun", "python"}, runs(), {});
  ASSERT_FALSE(isolation);
  EXPECT_THAT(isolation.error().message, HasSubstr("--in-place"));
  EXPECT_TRUE(Isolation::choose({"srun", "python"}, runs(), {.in_place = true}));
}

TEST_F(IsolationTest, TrackersAreOffUnlessAskedFor) {
  for (const bool online : {false, true}) {
    auto isolation = Isolation::choose(kCommand, runs(), {.in_place = true, .online = online});
    ASSERT_TRUE(isolation);
    const auto trial = isolation->begin(runs() + "/a", kCommand, {});
    ASSERT_TRUE(trial);
    EXPECT_EQ(testing::Value(trial->environment(),
                             testing::Contains(testing::Pair("WANDB_MODE", "offline"))),
              !online);
  }
}

TEST_F(IsolationTest, ATrialHasANameOfItsOwnWhereTheCommandAsksForIt) {
  const std::vector<std::string> command = {"train", "--out=out/{trial}/x"};
  auto isolation = Isolation::choose(command, runs(), {.in_place = true});
  ASSERT_TRUE(isolation);
  auto trial = isolation->begin(runs() + "/a", command, {});
  ASSERT_TRUE(trial);
  const std::string word = trial->command()[1];
  const std::string own =
      word.substr(word.find("out/") + 4, word.rfind('/') - word.find("out/") - 4);
  fs::create_directories(work() + "/out/" + own + "/x");
  write(work() + "/out/kept", "");
  trial->end();
  EXPECT_TRUE(fs::exists(work() + "/out/kept"));
  EXPECT_FALSE(fs::exists(work() + "/out/" + own));
}

TEST_F(IsolationTest, ProcessesThatAreLeftAreKilled) {
  auto isolation = Isolation::choose(kCommand, runs(), {});
  ASSERT_TRUE(isolation);
  auto trial = isolation->begin(runs() + "/a", kCommand, {});
  ASSERT_TRUE(trial);
  EXPECT_EQ(run(*trial, "setsid sleep 1000 > /dev/null 2>&1 & echo $! > $UNSTARVE_RUN_DIR/pid"), 0);
  const pid_t left = std::stoi(text_of(runs() + "/a/pid"));
  EXPECT_GE(trial->end(), 1U);
  EXPECT_THAT(processes_of({runs() + "/a"}), IsEmpty());
  const std::string state = text_of("/proc/" + std::to_string(left) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(" Z ") != std::string::npos) << state;
}

TEST(TrialProcesses, WhatWeShareWithThemIsNoMark) {
  EXPECT_THAT(processes_of({"", open_mount_namespace(::getpid())}), IsEmpty());
  EXPECT_THAT(processes_of({"", {}, ::getpgrp()}), IsEmpty());
  EXPECT_THAT(processes_of({}), IsEmpty());
}

/// Lives in a mount namespace of its own, which it shows by a byte, until it is ended.
class Elsewhere {
 public:
  Elsewhere() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const char moved = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 1 : 0;
      if (::write(ends[1], &moved, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char moved = 0;
    EXPECT_EQ(::read(ends[0], &moved, 1), 1);
    has_moved_ = moved != 0;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  bool has_moved() const { return has_moved_; }

 private:
  pid_t pid_ = 0;
  bool has_moved_ = false;
};

// The kernel numbers namespaces with the lowest number that is free.
TEST(TrialProcesses, ANamespaceThatIsGoneMarksNobodyElse) {
  TrialMarks marks;
  {
    const Elsewhere trial;
    if (!trial.has_moved()) GTEST_SKIP() << "no namespaces here";
    marks.mount_namespace = open_mount_namespace(trial.pid());
    EXPECT_THAT(processes_of(marks), ElementsAre(trial.pid()));
  }
  for (int i = 0; i < 50; ++i) {
    const Elsewhere stranger;
    EXPECT_THAT(processes_of(marks), IsEmpty()) << i;
  }
}

class WriteGuardTest : public IsolationTest {
 protected:
  /// Exit code of a script, and what was refused in it.
  std::pair<int, std::vector<std::string>> guarded(const std::string& script) {
    auto guard = WriteGuard::prepare({"/dev", "/proc"});
    EXPECT_TRUE(guard) << (guard ? "" : guard.error().message);
    if (!guard) return {};
    const pid_t pid = start_shell(guard->entry(), script);
    const Status watched = guard->watch();
    EXPECT_TRUE(watched) << (watched ? "" : watched.error().message);
    const int code = exit_of(pid);
    const auto refused = guard->refused();
    guard->end();
    return {code, refused};
  }
};

TEST_F(WriteGuardTest, WhatIsMadeIsRemoved) {
  struct stat before {};
  ::stat(work().c_str(), &before);
  const auto [code, refused] = guarded(
      "mkdir out && echo 1 > out/a && echo 2 >> out/a && mv out/a out/b && mv out named && "
      "echo 3 > named/b && rm named/b && ln -s model.pt link && cat link && touch named");
  EXPECT_EQ(code, 0);
  EXPECT_THAT(refused, IsEmpty());
  EXPECT_EQ(std::distance(fs::directory_iterator(work()), fs::directory_iterator()), 1);
  struct stat after {};
  ::stat(work().c_str(), &after);
  EXPECT_EQ(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

TEST_F(WriteGuardTest, WhatWasThereIsNotChanged) {
  for (const char* const script :
       {"echo x > model.pt", "echo x >> model.pt", "rm -f model.pt", "mv model.pt other",
        "echo x > new && mv -f new model.pt", "truncate -s 0 model.pt", "touch model.pt",
        "chmod 600 model.pt", "ln -s model.pt link && echo x > link",
        "cd / && rm -f $OLDPWD/model.pt", "rm -rf ../work"}) {
    const auto [code, refused] = guarded(script);
    EXPECT_NE(code, 0) << script;
    EXPECT_THAT(refused, ElementsAre(work() + "/model.pt")) << script;
    EXPECT_EQ(text_of("model.pt"), "weights") << script;
    EXPECT_EQ(std::distance(fs::directory_iterator(work()), fs::directory_iterator()), 1) << script;
  }
}

}  // namespace
}  // namespace unstarve::isolation
