#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/testing/test_folder.h"
#include "examine/examination.h"
#include "launch/watching/observed_job.h"

namespace unstarve::trial {
namespace {

TEST(EndedTrial, ItsEndIsNoFailureOfTheJob) {
  const TestFolder folder;
  launch::ObservedJobOptions options;
  options.command = {"sh", "-c", "trap 'exit 1' INT; echo on; while :; do sleep 0.05; done"};
  options.run_dir = folder.path() + "/run";
  options.output_file = options.run_dir + "/output.log";
  options.own_process_group = true;
  // Goes on until the job has said something.
  options.on_tick = [&options](const observe::LiveView&) {
    std::error_code none_yet;
    return std::filesystem::file_size(options.output_file, none_yet) == 0 || none_yet;
  };
  const auto observed = launch::run_observed({}, options);
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_EQ(observed->exit.exit_code, 1);
  const auto examined = examine::examine_run(options.run_dir);
  ASSERT_TRUE(examined) << examined.error().message;
  EXPECT_FALSE(examined->failed);
  options.run_dir += "2";
  options.command.back() = "exit 1";
  options.output_file = options.run_dir + "/output.log";
  ASSERT_TRUE(launch::run_observed({}, options));
  EXPECT_TRUE(examine::examine_run(options.run_dir)->failed);
}

}  // namespace
}  // namespace unstarve::trial
