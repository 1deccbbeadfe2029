#include "observe/outside/job_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/testing/test_folder.h"

namespace unstarve::observe {
namespace {

using testing::Contains;
using testing::HasSubstr;

JobExit run(const JobOptions& options) {
  Result<JobProcess> job = JobProcess::start(options);
  EXPECT_TRUE(job) << (job ? "" : job.error().message);
  if (!job) return {};
  const Result<JobExit> end = job->wait();
  EXPECT_TRUE(end) << (end ? "" : end.error().message);
  return end ? *end : JobExit{};
}

JobExit run_shell(const std::string& script) { return run({.command = {"sh", "-c", script}}); }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(JobProcess, PassesOnTheExitCode) {
  EXPECT_EQ(run_shell("exit 0").exit_code, 0);
  EXPECT_EQ(run_shell("exit 7").exit_code, 7);
}

TEST(JobProcess, SaysWhichSignalKilledTheJob) {
  const JobExit end = run_shell("kill -9 $$");
  EXPECT_EQ(end.exit_code, 128 + SIGKILL);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(JobProcess, ACommandThatIsNotThereIsAnErrorThatNamesIt) {
  const Result<JobProcess> job = JobProcess::start({.command = {"no-such-command-at-all"}});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(job.error().message, HasSubstr("cannot start 'no-such-command-at-all'"));
}

TEST(JobProcess, AFileThatIsNotExecutableIsNoPermission) {
  const TestFolder folder;
  const std::string path = folder.path() + "/train.py";
  std::ofstream(path) << "print(1)\n";
  const Result<JobProcess> job = JobProcess::start({.command = {path}});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, ErrorCode::kNoPermission);
}

TEST(JobProcess, AScriptWithoutAFirstLineRunsInTheShell) {
  const TestFolder folder;
  const std::string path = folder.path() + "/run.sh";
  std::ofstream(path) << "exit 5\n";
  ::chmod(path.c_str(), 0755);
  EXPECT_EQ(run({.command = {path}}).exit_code, 5);
}

TEST(JobProcess, NoCommandIsAnError) { EXPECT_FALSE(JobProcess::start({})); }

TEST(JobProcess, TheJobSeesTheRunAndTheHookBeforeItsOwnPath) {
  const char* ours[] = {"HOME=/root", "PYTHONPATH=/mine", nullptr};
  JobOptions options;
  options.run_dir = "/runs/1";
  options.hook_dir = "/hook";
  options.environment = {{"HOME", "/elsewhere"}, {"NEW", "1"}};
  const std::vector<std::string> environment = job_environment(options, ours);
  EXPECT_THAT(environment,
              testing::UnorderedElementsAre("HOME=/elsewhere", "NEW=1", "UNSTARVE_RUN_DIR=/runs/1",
                                            "PYTHONPATH=/hook:/mine"));
}

TEST(JobProcess, WithoutAPathOfItsOwnTheHookStandsAlone) {
  const char* ours[] = {"PYTHONPATH=", nullptr};
  JobOptions options;
  options.hook_dir = "/hook";
  EXPECT_THAT(job_environment(options, ours), Contains("PYTHONPATH=/hook"));
}

TEST(JobProcess, TheJobsSignalMaskIsOursFromBefore) {
  const TestFolder folder;
  const std::string out = folder.path() + "/mask";
  run_shell("exec grep SigBlk /proc/self/status > " + out);
  EXPECT_THAT(text_of(out), HasSubstr("0000000000000000"));
}

TEST(JobProcess, LeavesNoFileDescriptorsToTheJob) {
  const TestFolder folder;
  const std::string out = folder.path() + "/fds";
  run_shell("exec ls /proc/self/fd > " + out);
  const std::string before = text_of(out);
  run({.command = {"sh", "-c", "exec ls /proc/self/fd > " + out}, .run_dir = folder.path()});
  EXPECT_EQ(text_of(out), before);
}

TEST(JobProcess, ForwardsTerm) {
  const TestFolder folder;
  const std::string fifo = folder.path() + "/ready";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Result<JobProcess> job = JobProcess::start(
      {.command = {"sh", "-c", "trap 'exit 9' TERM; echo up > " + fifo + "; while :; do :; done"}});
  ASSERT_TRUE(job);
  EXPECT_EQ(text_of(fifo), "up\n");
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  const Result<JobExit> end = job->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 9);
}

/// Runs `send` in a process that watches a job, both in a group of their own; returns how often the
/// job got SIGINT. The job ends by itself at its first one, after a look at what comes behind.
int interrupts_of_job(int (*send)(pid_t watcher)) {
  const TestFolder folder;
  const std::string out = folder.path() + "/count";
  const std::string fifo = folder.path() + "/ready";
  EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // Half a second of counting, by a counter and not by sleep: sleep is in the group as well.
  const std::string script = "n=0; trap 'n=$((n+1))' INT; echo up > " + fifo +
                             "; while [ $n = 0 ]; do :; done; i=0; while [ $i -lt 200000 ]; do "
                             "i=$((i+1)); done; echo $n > " +
                             out;
  const pid_t watcher = ::fork();
  if (watcher == 0) {
    ::setpgid(0, 0);
    Result<JobProcess> job = JobProcess::start({.command = {"sh", "-c", script}});
    ::_exit(job && job->wait() ? 0 : 1);
  }
  EXPECT_EQ(text_of(fifo), "up\n");
  EXPECT_EQ(send(watcher), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(watcher, &status, 0), watcher);
  EXPECT_EQ(status, 0);
  return std::atoi(text_of(out).c_str());
}

TEST(JobProcess, AnInterruptForUsAloneIsPassedOn) {
  EXPECT_EQ(interrupts_of_job([](pid_t watcher) { return ::kill(watcher, SIGINT); }), 1);
}

TEST(JobProcess, AnInterruptForTheGroupReachesTheJobOnce) {
  EXPECT_EQ(interrupts_of_job([](pid_t watcher) { return ::kill(-watcher, SIGINT); }), 1);
}

TEST(JobProcess, AKilledWatcherDoesNotDisturbTheJob) {
  const TestFolder folder;
  const std::string fifo = folder.path() + "/ready";
  const std::string gate = folder.path() + "/gate";
  const std::string done = folder.path() + "/done";
  for (const std::string& path : {fifo, gate, done}) ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string script =
      "echo up > " + fifo + "; read x < " + gate + "; echo finished > " + done;
  const pid_t watcher = ::fork();
  if (watcher == 0) {
    Result<JobProcess> job = JobProcess::start({.command = {"sh", "-c", script}});
    ::_exit(job && job->wait() ? 0 : 1);
  }
  EXPECT_EQ(text_of(fifo), "up\n");
  ASSERT_EQ(::kill(watcher, SIGKILL), 0);
  ASSERT_EQ(::waitpid(watcher, nullptr, 0), watcher);
  std::ofstream(gate) << "go\n";
  EXPECT_EQ(text_of(done), "finished\n");
}

TEST(JobProcess, RequestStopReachesTheWholeGroupOfATrial) {
  const TestFolder folder;
  const std::string fifo = folder.path() + "/ready";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Result<JobProcess> job =
      JobProcess::start({.command = {"sh", "-c",
                                     "sh -c 'trap \"exit 3\" TERM; echo up > " + fifo +
                                         "; while :; do :; done'; exit $?"},
                         .own_process_group = true});
  ASSERT_TRUE(job);
  EXPECT_EQ(text_of(fifo), "up\n");
  ASSERT_TRUE(job->request_stop(SIGTERM));
  const Result<JobExit> end = job->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGTERM);  // the outer shell, which has no trap
}

/// The signal that ends a job which is interrupted while we ignore that; none: it lives on.
std::optional<int> interrupted_while_ignored(bool own_group) {
  ::signal(SIGINT, SIG_IGN);
  auto job = JobProcess::start(
      {.command = {"sh", "-c", "kill -INT $$; exit 0"}, .own_process_group = own_group});
  ::signal(SIGINT, SIG_DFL);
  if (!job) return SIGKILL;
  const auto end = job->wait();
  return end ? end->signal : SIGKILL;
}

TEST(JobProcess, ATrialHearsAnInterruptThatWeIgnoreAndAJobDoesNot) {
  EXPECT_EQ(interrupted_while_ignored(true), SIGINT);
  EXPECT_EQ(interrupted_while_ignored(false), std::nullopt);
}

TEST(JobProcess, AGroupOfItsOwnDiesWithUs) {
  const TestFolder folder;
  const std::string fifo = folder.path() + "/up";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const pid_t us = ::fork();
  if (us == 0) {
    const Result<JobProcess> job =
        JobProcess::start({.command = {"sh", "-c", "echo $$ > " + fifo + "; sleep 100 & sleep 100"},
                           .own_process_group = true});
    ::pause();
    ::_exit(1);
  }
  const int job = std::stoi(text_of(fifo));
  ASSERT_NE(::getpgid(job), ::getpgrp());
  ::kill(us, SIGKILL);
  ASSERT_EQ(::waitpid(us, nullptr, 0), us);
  constexpr int kTriesMax = 1000;
  int tries = 0;
  // Gone, or dead and waiting for init to take notice.
  const auto lives = [job] {
    std::ifstream stat("/proc/" + std::to_string(job) + "/stat");
    std::string pid, name, state;
    return stat >> pid >> name >> state && state != "Z";
  };
  while (lives() && ++tries < kTriesMax) ::usleep(10'000);
  EXPECT_LT(tries, kTriesMax);
}

TEST(JobProcess, ReportsTheJobsCpuTime) {
  const JobExit end = run_shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
  EXPECT_GT(end.user_cpu_ns, 0);
}

TEST(JobProcess, WaitForGivesUpAtItsDeadline) {
  const TestFolder folder;
  const std::string fifo = folder.path() + "/gate";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Result<JobProcess> job = JobProcess::start({.command = {"sh", "-c", "read x < " + fifo}});
  ASSERT_TRUE(job);
  const Result<std::optional<JobExit>> end = job->wait_for(1);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  std::ofstream(fifo) << "go\n";
  EXPECT_EQ(job->wait()->exit_code, 0);
}

}  // namespace
}  // namespace unstarve::observe
