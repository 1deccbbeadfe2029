// The emulated GPU as the observing side sees it: through its NVML library, loaded by path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/cupti_ring.h"
#include "device/emulated/activity_writer.h"
#include "device/gpu_monitor.h"

namespace unstarve::device::emulated {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class EmulatedNvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "emulated_nvml_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("UNSTARVE_EMULATED_RINGS", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("UNSTARVE_EMULATED_RINGS");
    std::filesystem::remove_all(folder_);
  }
  Result<std::unique_ptr<GpuMonitor>> open() {
    return open_gpu_monitor({.nvml_path = UNSTARVE_EMULATED_NVML}, clock_);
  }
  /// A ring whose device has been busy half of each 10 ms for two seconds, and goes on.
  ActivityWriter half_duty(const char* profile, std::int32_t index) {
    const std::int64_t start_ns = clock_.now_ns() - 2'000 * kMs;
    auto writer = ActivityWriter::create(
        *find_profile(profile), {.path = folder_ + "/gpu-" + std::to_string(index) + ".ring",
                                 .device_index = index,
                                 .now_ns = start_ns});
    EXPECT_TRUE(writer);
    for (int i = 0; i < 1000; ++i) {
      cupti::Kernel record;
      record.start_ns = static_cast<std::uint64_t>(start_ns + i * 10 * kMs);
      record.end_ns = record.start_ns + static_cast<std::uint64_t>(5 * kMs);
      writer->write(record);
    }
    cupti::EmulatedState state;
    state.memory_used_bytes = 1'000'000;
    writer->write(state);
    return std::move(*writer);
  }

  SteadyClock clock_;
  std::string folder_;
};

TEST_F(EmulatedNvmlTest, ThereIsNoDeviceUntilTheJobHasMadeOne) {
  auto monitor = open();
  ASSERT_TRUE(monitor) << monitor.error().message;
  EXPECT_THAT(*(*monitor)->enumerate(), ::testing::IsEmpty());
  const ActivityWriter second = half_duty("h100", 1);
  const ActivityWriter first = half_duty("a100", 0);
  const auto devices = (*monitor)->enumerate();
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[0].name, "Emulated NVIDIA A100-SXM4-80GB");
  EXPECT_EQ((*devices)[1].name, "Emulated NVIDIA H100 80GB HBM3");
  EXPECT_TRUE((*devices)[0].emulated);
  EXPECT_EQ(*(*devices)[0].total_memory_bytes, 80LL << 30);
  EXPECT_NE((*devices)[0].uuid, (*devices)[1].uuid);
}

TEST_F(EmulatedNvmlTest, HalfDutyReadsAsHalfThroughTheDriversInterface) {
  const ActivityWriter writer = half_duty("a100", 0);
  auto monitor = open();
  ASSERT_TRUE(monitor);
  ASSERT_EQ((*monitor)->enumerate()->size(), 1U);
  const auto readings = (*monitor)->read(0);
  ASSERT_TRUE(readings) << readings.error().message;
  EXPECT_NEAR(*readings->utilization_ratio, 0.5, 0.035);
  EXPECT_GT(*readings->memory_controller_ratio, 0.1);
  EXPECT_EQ(*readings->memory_used_bytes, 1'000'000);
  EXPECT_NEAR(*readings->power_w, 55 + 0.45 * 365, 15);
  EXPECT_GT(*readings->energy_j, 200);
  EXPECT_GT(*readings->temperature_c, 35);
  EXPECT_EQ(*readings->sm_clock_mhz, 1410);
  EXPECT_EQ(*readings->memory_clock_mhz, 1593);
  EXPECT_EQ(*readings->throttle_reasons, 0U);
  EXPECT_EQ(*readings->pcie_rx_bytes, 0U);
  ASSERT_EQ((*readings->processes).size(), 1U);
  EXPECT_EQ((*readings->processes).front().pid, ::getpid());
  // An emulated GPU has no such counters, and says so.
  EXPECT_EQ(readings->sm_activity_ratio.why_absent(), WhyAbsent::kNotSupported);
}

TEST_F(EmulatedNvmlTest, SamplesComeOnce) {
  const ActivityWriter writer = half_duty("a100", 0);
  auto monitor = open();
  ASSERT_TRUE(monitor);
  ASSERT_EQ((*monitor)->enumerate()->size(), 1U);
  const auto samples = (*monitor)->utilization_samples(0);
  ASSERT_TRUE(samples);
  ASSERT_GE(samples->size(), 10U);
  std::set<std::int64_t> times;
  for (const UtilizationSample& each : *samples) times.insert(each.wall_time_us);
  EXPECT_EQ(times.size(), samples->size());
  EXPECT_NEAR(samples->back().utilization_ratio, 0.5, 0.035);
  EXPECT_NEAR(static_cast<double>(*times.rbegin()), 1e-3 * static_cast<double>(wall_time_ns()),
              1e6);
  const auto again = (*monitor)->utilization_samples(0);
  for (const UtilizationSample& each : *again) {
    EXPECT_TRUE(times.insert(each.wall_time_us).second);
  }
}

TEST_F(EmulatedNvmlTest, ADeviceWhoseProcessIsGoneIsIdleAndEmpty) {
  const pid_t child = ::fork();
  if (child == 0) {
    half_duty("a100", 0);
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  auto monitor = open();
  ASSERT_TRUE(monitor);
  ASSERT_EQ((*monitor)->enumerate()->size(), 1U);
  const auto readings = (*monitor)->read(0);
  ASSERT_TRUE(readings);
  EXPECT_THAT(*readings->processes, ::testing::IsEmpty());
  EXPECT_EQ(*readings->memory_used_bytes, 0);
}

TEST_F(EmulatedNvmlTest, DamagedAndForeignFilesAreNoDevices) {
  std::filesystem::copy_file(UNSTARVE_EMULATED_NVML, folder_ + "/gpu-0.ring");
  std::filesystem::create_directory(folder_ + "/gpu-1.ring");
  {
    FILE* empty = std::fopen((folder_ + "/gpu-2.ring").c_str(), "w");
    std::fclose(empty);
  }
  auto monitor = open();
  ASSERT_TRUE(monitor);
  EXPECT_THAT(*(*monitor)->enumerate(), ::testing::IsEmpty());
  EXPECT_FALSE((*monitor)->read(0));
}

TEST_F(EmulatedNvmlTest, WithoutAFolderItIsLikeADriverThatIsNotLoaded) {
  ::unsetenv("UNSTARVE_EMULATED_RINGS");
  const auto monitor = open();
  ASSERT_FALSE(monitor);
  EXPECT_THAT(monitor.error().message, ::testing::HasSubstr("driver is not loaded"));
}

}  // namespace
}  // namespace unstarve::device::emulated
