#include "launch/watching/observed_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/testing/test_folder.h"
#include "isolation/trial_processes.h"

namespace unstarve::launch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ObservedTrial : public testing::Test {
 protected:
  ObservedJobOptions shell(const std::string& script) const {
    ObservedJobOptions options;
    options.command = {"sh", "-c", script};
    options.run_dir = folder_.path() + "/run";
    options.output_file = options.run_dir + "/output.log";
    options.own_process_group = true;
    return options;
  }
  std::string output() const { return text_of(folder_.path() + "/run/output.log"); }
  void expect_nobody_left() const {
    EXPECT_THAT(isolation::processes_of({folder_.path() + "/run"}), IsEmpty());
  }

 private:
  TestFolder folder_;
};

TEST_F(ObservedTrial, OneThatGoesOnAfterSigintAndSigtermIsKilledWithAllItStarted) {
  ObservedJobOptions options = shell(
      "trap 'echo INT' INT; trap 'echo TERM' TERM; setsid sleep 1000 & echo ready; "
      "while :; do sleep 0.05; done");
  options.on_tick = [this](const observe::LiveView&) { return output().empty(); };
  options.patience_ns = 300'000'000;
  const auto observed = run_observed({}, options);
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_TRUE(observed->killed);
  EXPECT_TRUE(observed->stopped_by_us);
  EXPECT_EQ(observed->exit.signal, SIGKILL);
  EXPECT_THAT(output(), HasSubstr("ready\nINT\n"));
  EXPECT_THAT(output(), HasSubstr("TERM\n"));
  expect_nobody_left();
}

TEST_F(ObservedTrial, WhatLivesLongerThanItIsKilled) {
  const auto observed = run_observed({}, shell("setsid sleep 1000 & exit 0"));
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_FALSE(observed->killed);
  EXPECT_EQ(observed->left_over, 1U);
  expect_nobody_left();
}

TEST_F(ObservedTrial, RunsToItsEndThoughWhatShowsItFails) {
  ObservedJobOptions options = shell("sleep 0.6; exit 7");
  options.on_tick = [](const observe::LiveView&) -> bool { throw std::runtime_error("no line"); };
  const auto observed = run_observed({}, options);
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_EQ(observed->exit.exit_code, 7);
  EXPECT_FALSE(observed->stopped_by_us);
}

TEST_F(ObservedTrial, NobodyAnswersWhatItAsks) {
  const auto observed = run_observed({}, shell("read answer || echo nobody"));
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_EQ(observed->exit.exit_code, 0);
  EXPECT_EQ(output(), "nobody\n");
}

}  // namespace
}  // namespace unstarve::launch
