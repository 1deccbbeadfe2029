#include "sink/recent/other_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "report/live/live_screen.h"

namespace unstarve::sink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Two GPUs, of which the second says nothing.
class TwoGpus final : public device::GpuMonitor {
 public:
  Result<std::vector<device::GpuDescription>> enumerate() override {
    device::GpuDescription first;
    first.index = 0;
    first.name = "A100";
    first.uuid = "GPU-a";
    first.total_memory_bytes = 80;
    device::GpuDescription second = first;
    second.index = 1;
    second.uuid = "GPU-b";
    return std::vector{first, second};
  }
  Result<device::GpuReadings> read(std::int32_t index) override {
    device::GpuReadings readings;
    if (index == 1) return readings;
    readings.utilization_ratio = 0.25;
    readings.memory_used_bytes = 40;
    readings.processes = std::vector<device::GpuProcess>{{11, 10}, {12, 30}};
    return readings;
  }
  Result<std::vector<device::UtilizationSample>> utilization_samples(std::int32_t) override {
    return std::vector<device::UtilizationSample>();
  }
  std::string source() const override { return "a test"; }
};

report::LiveJob job_with(const std::string& uuid, bool emulated) {
  report::LiveJob job;
  job.emulated = emulated;
  report::LiveGpu gpu;
  gpu.uuid = uuid;
  job.gpus.push_back(gpu);
  return job;
}

std::vector<std::int64_t> indices(const std::vector<report::OtherGpu>& gpus) {
  std::vector<std::int64_t> all;
  for (const report::OtherGpu& one : gpus) all.push_back(one.gpu.index);
  return all;
}

TEST(OtherGpus, AreThoseThatNoWatchedJobHas) {
  ManualClock clock(kSecondNs);
  OtherGpus gpus(clock, std::make_unique<TwoGpus>());
  EXPECT_THAT(indices(gpus.look({}, 60)), ElementsAre(0, 1));
  EXPECT_THAT(indices(gpus.look(std::vector{job_with("GPU-a", false)}, 60)), ElementsAre(1));
  // Its UUID is not known, its number is; that of an emulated GPU is no number of this machine.
  EXPECT_THAT(indices(gpus.look(std::vector{job_with("", false)}, 60)), ElementsAre(1));
  EXPECT_THAT(indices(gpus.look(std::vector{job_with("", true)}, 60)), ElementsAre(0, 1));
  EXPECT_THAT(OtherGpus(clock, nullptr).look({}, 60), SizeIs(0));
}

TEST(OtherGpus, CurvesHaveAValueASecond) {
  ManualClock clock(kSecondNs);
  OtherGpus gpus(clock, std::make_unique<TwoGpus>());
  for (int i = 0; i < 8; ++i) {
    clock.advance_ns(kSecondNs / 2);
    (void)gpus.look({}, 60);
  }
  EXPECT_THAT(gpus.look({}, 60).front().gpu.curve, SizeIs(5));
  EXPECT_THAT(gpus.look({}, 3).front().gpu.curve, ElementsAre(0.25, 0.25, 0.25));
}

/// A machine with the process 12, whose namespace of processes is `names`.
void write_process(const std::string& root, const std::string& names) {
  std::filesystem::create_directories(root + "/proc/12");
  std::filesystem::create_directories(root + "/proc/self/ns");
  std::filesystem::create_symlink(names, root + "/proc/self/ns/pid");
  std::ofstream(root + "/proc/12/cmdline")
      << std::string_view("python\0train it.py\0--api-key\0hunter2\0", 37);
  std::ofstream(root + "/proc/12/status") << "Name:\tpython\nUid:\t987654\t987654\n";
}

TEST(OtherGpus, NamesTheProcessesThatHaveThem) {
  const TestFolder root;
  write_process(root.path(), "pid:[4026531836]");
  ManualClock clock(kSecondNs);
  OtherGpus gpus(clock, std::make_unique<TwoGpus>(), host::HostFiles(root.path()));
  const auto others = gpus.look({}, 60);
  ASSERT_THAT(others.front().process_list, SizeIs(2));
  const report::GpuProcess& first = others.front().process_list.front();
  EXPECT_EQ(first.pid, 12);
  EXPECT_EQ(first.user, "987654");
  EXPECT_EQ(first.command, "python 'train it.py' --api-key '***'");
  EXPECT_EQ(others.front().process_list.back().command, "");  // it has ended
  report::TextOptions options;
  options.width = 40;
  const auto lines = report::render_other_gpus(others, options);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[2], HasSubstr("12  987654  30 B  python"));
  for (const std::string& line : lines) EXPECT_LE(report::display_width(line), 40);
  const auto said = nlohmann::json::parse(report::live_json({}, &others));
  EXPECT_EQ(said["other_gpus"][0]["process_list"][0]["pid"], 12);
  EXPECT_EQ(said["other_gpus"][0]["process_list"][1]["command"], nullptr);
}

TEST(OtherGpus, AContainersNumbersNameNobody) {
  const TestFolder root;
  write_process(root.path(), "pid:[4026532999]");
  ManualClock clock(kSecondNs);
  OtherGpus gpus(clock, std::make_unique<TwoGpus>(), host::HostFiles(root.path()));
  EXPECT_EQ(gpus.look({}, 60).front().process_list.front().command, "");
  EXPECT_EQ(gpus.look({}, 60).front().process_list.front().user, "");
}

TEST(OtherGpus, WhatIsNotReadIsSaidSo) {
  ManualClock clock(kSecondNs);
  OtherGpus gpus(clock, std::make_unique<TwoGpus>());
  const auto others = gpus.look({}, 60);
  report::TextOptions options;
  const auto lines = report::render_other_gpus(others, options);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[1], HasSubstr("2 processes"));
  EXPECT_THAT(lines[4], HasSubstr("not read"));
  for (const std::string& line : lines) EXPECT_LE(report::display_width(line), 80);
  const auto said = nlohmann::json::parse(report::live_json({}, &others));
  EXPECT_EQ(said["other_gpus"][0]["processes"], 2);
  EXPECT_EQ(said["other_gpus"][1]["utilization_ratio"]["absent"], "not_observed");
  EXPECT_FALSE(nlohmann::json::parse(report::live_json({})).contains("other_gpus"));
}

}  // namespace
}  // namespace unstarve::sink
