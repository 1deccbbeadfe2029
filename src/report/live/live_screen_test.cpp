#include "report/live/live_screen.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace unstarve::report {
namespace {

LiveJob training() {
  LiveJob job;
  job.run_dir = "runs/2026-05-01_14-03-22_train";
  job.command = "python train.py --epochs 90 --data /mnt/fast/imagenet/train --batch-size 256";
  job.state = LiveState::kTraining;
  job.elapsed_s = 725;
  job.steps = 120;
  job.ranks = 1;
  job.step_s = 0.25;
  job.samples_per_s = 812.0;
  job.waiting = 0.74;
  job.blocked = 0.05;
  job.cpu_cores = 1.9;
  job.cores_allowed = 2.0;
  job.waiting_curve = std::vector<double>(60, 0.74);
  job.cpu_curve = std::vector<double>(60, 0.95);
  for (const std::int64_t index : {0, 3}) {
    LiveGpu gpu;
    gpu.index = index;
    gpu.utilization = 0.22;
    gpu.memory_bytes = 3.1e9;
    gpu.power_w = 212.0;
    gpu.curve = std::vector<double>(60, 0.22);
    job.gpus.push_back(gpu);
  }
  return job;
}

TEST(LiveScreen, EachLineFitsWhateverTheWidth) {
  for (const int width : {40, 60, 80, 120, 200}) {
    for (const bool unicode : {true, false}) {
      TextOptions options;
      options.width = width;
      options.unicode = unicode;
      const LiveJob job = training();
      for (const std::string& line : render_jobs(std::span(&job, 1), options, 0)) {
        EXPECT_LE(display_width(line), width) << line;
        if (!unicode) {
          for (const char c : line) EXPECT_GE(c, ' ') << line;
        }
      }
    }
  }
}

TEST(LiveScreen, SaysTheCauseFirst) {
  EXPECT_EQ(live_sentence(training()),
            "waits for data 74 %, GPUs busy 22 %, 250 ms a step, 812 samples/s, 120 steps");
  LiveJob quiet = training();
  quiet.state = LiveState::kQuiet;
  quiet.quiet_s = 75;
  EXPECT_EQ(live_sentence(quiet),
            "nothing for 1 min 15 s, after 120 steps: no step, no batch, no checkpoint");
}

TEST(LiveScreen, JobsThatDoNotFitAreCounted) {
  const std::vector<LiveJob> jobs(5, training());
  const auto lines = render_jobs(jobs, {}, 20);
  EXPECT_LE(lines.size(), 20U);
  EXPECT_EQ(lines.back(), "and 3 more");
  EXPECT_LE(render_jobs(jobs, {}, 3).size(), 3U);
  EXPECT_GT(render_jobs(jobs, {}, 0).size(), 40U);
}

TEST(LiveScreen, NamesOfOthersReachNoTerminal) {
  LiveJob job = training();
  job.run_dir = "runs/a\x1b[2J";
  job.command = "python \xff\n\x07";
  for (const std::string& line : render_jobs(std::span(&job, 1), {}, 0)) {
    for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ') << line;
  }
  EXPECT_EQ(live_json(std::span(&job, 1)).find('\x1b'), std::string::npos);
}

TEST(LiveJson, WhatIsNotKnownHasAReason) {
  LiveJob job = training();
  job.waiting = WhyAbsent::kNotObserved;
  const auto document = nlohmann::json::parse(live_json(std::span(&job, 1)));
  EXPECT_EQ(document["schema"], "unstarve.top/1");
  const auto& said = document["jobs"][0];
  EXPECT_EQ(said["input_wait"]["absent"], "not_observed");
  EXPECT_EQ(said["idle"]["absent"], "not_observed");
  EXPECT_EQ(said["gpus"][1]["index"], 3);
  EXPECT_EQ(said["step_s"], 0.25);
}

}  // namespace
}  // namespace unstarve::report
