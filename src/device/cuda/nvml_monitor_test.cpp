#include "device/cuda/nvml_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/testing/fake_nvml.h"
#include "device/monitor/open_gpu_monitor.h"

namespace unstarve::device {
namespace {

using nvml::Return;
using test::FakeNvml;

constexpr std::int64_t kMs = 1'000'000;

class NvmlMonitorTest : public ::testing::Test {
 protected:
  std::unique_ptr<NvmlMonitor> open() {
    Result<NvmlLibrary> library = NvmlLibrary::load(fake_.lookup(), "fake");
    EXPECT_TRUE(library) << library.error().message;
    return std::make_unique<NvmlMonitor>(std::move(*library), clock_);
  }
  GpuReadings read(NvmlMonitor& monitor, std::int32_t index) {
    const auto readings = monitor.read(index);
    EXPECT_TRUE(readings) << readings.error().message;
    return *readings;
  }
  FakeNvml fake_;
  ManualClock clock_{1000 * kMs};
};

/// Every reading is absent for the reason given.
void expect_all_absent(const GpuReadings& readings, WhyAbsent why) {
  EXPECT_EQ(readings.utilization_ratio.why_absent(), why);
  EXPECT_EQ(readings.memory_controller_ratio.why_absent(), why);
  EXPECT_EQ(readings.memory_used_bytes.why_absent(), why);
  EXPECT_EQ(readings.power_w.why_absent(), why);
  EXPECT_EQ(readings.energy_j.why_absent(), why);
  EXPECT_EQ(readings.temperature_c.why_absent(), why);
  EXPECT_EQ(readings.sm_clock_mhz.why_absent(), why);
  EXPECT_EQ(readings.memory_clock_mhz.why_absent(), why);
  EXPECT_EQ(readings.throttle_reasons.why_absent(), why);
  EXPECT_EQ(readings.pcie_tx_bytes.why_absent(), why);
  EXPECT_EQ(readings.processes.why_absent(), why);
  EXPECT_FALSE(readings.utilization_ratio.has_value());
  EXPECT_FALSE(readings.processes.has_value());
}

const std::vector<std::string> kReadingCalls = {"nvmlDeviceGetMemoryInfo_v2",
                                                "nvmlDeviceGetMemoryInfo",
                                                "nvmlDeviceGetUtilizationRates",
                                                "nvmlDeviceGetPowerUsage",
                                                "nvmlDeviceGetTotalEnergyConsumption",
                                                "nvmlDeviceGetTemperature",
                                                "nvmlDeviceGetTemperatureV",
                                                "nvmlDeviceGetClockInfo",
                                                "nvmlDeviceGetCurrentClocksEventReasons",
                                                "nvmlDeviceGetCurrentClocksThrottleReasons",
                                                "nvmlDeviceGetFieldValues",
                                                "nvmlDeviceGetComputeRunningProcesses_v3",
                                                "nvmlDeviceGetComputeRunningProcesses_v2",
                                                "nvmlDeviceGetComputeRunningProcesses",
                                                "nvmlDeviceGetSamples",
                                                "nvmlGpmQueryDeviceSupport"};

TEST_F(NvmlMonitorTest, ReadsEverythingInItsUnit) {
  auto monitor = open();
  const auto devices = monitor->enumerate();
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[1].name, "NVIDIA Test GPU");
  EXPECT_EQ((*devices)[1].uuid, "GPU-1");
  EXPECT_FALSE((*devices)[1].emulated);
  const GpuReadings readings = read(*monitor, 1);
  EXPECT_DOUBLE_EQ(*readings.utilization_ratio, 0.73);
  EXPECT_DOUBLE_EQ(*readings.memory_controller_ratio, 0.21);
  EXPECT_EQ(*readings.memory_used_bytes, 300);
  EXPECT_DOUBLE_EQ(*readings.power_w, 250.5);
  EXPECT_DOUBLE_EQ(*readings.energy_j, 5e6);
  EXPECT_EQ(*readings.temperature_c, 61);
  EXPECT_EQ(*readings.sm_clock_mhz, 1400);
  EXPECT_EQ(*readings.memory_clock_mhz, 1600);
  EXPECT_EQ(*readings.throttle_reasons, throttle::kSoftwarePowerCap);
  EXPECT_EQ(*readings.pcie_tx_bytes, 1197U);
  EXPECT_EQ(*readings.pcie_rx_bytes, 1198U);
  ASSERT_EQ((*readings.processes).size(), 40U);
  EXPECT_EQ((*readings.processes)[0].memory_used_bytes.why_absent(), WhyAbsent::kNotSupported);
  EXPECT_EQ(*(*readings.processes)[1].memory_used_bytes, 7);
}

TEST_F(NvmlMonitorTest, AnOldDriverIsReadThroughItsOlderFunctions) {
  fake_.missing = {"nvmlInit_v2",
                   "nvmlDeviceGetCount_v2",
                   "nvmlDeviceGetHandleByIndex_v2",
                   "nvmlDeviceGetMemoryInfo_v2",
                   "nvmlDeviceGetCurrentClocksEventReasons",
                   "nvmlDeviceGetComputeRunningProcesses_v3",
                   "nvmlDeviceGetComputeRunningProcesses_v2",
                   "nvmlGpmQueryDeviceSupport"};
  auto monitor = open();
  ASSERT_EQ(monitor->enumerate()->size(), 2U);
  const GpuReadings readings = read(*monitor, 0);
  EXPECT_EQ(*readings.memory_used_bytes, 350);  // v1 counts the driver's reserve as used
  EXPECT_EQ(*readings.throttle_reasons, throttle::kHardwareSlowdown);
  ASSERT_EQ((*readings.processes).size(), 40U);
  EXPECT_EQ((*readings.processes)[39].pid, 139);
  EXPECT_EQ(readings.sm_activity_ratio.why_absent(), WhyAbsent::kNotSupported);
}

TEST_F(NvmlMonitorTest, ANewDriverThatDroppedTheOldTemperatureCallIsAskedTheNewWay) {
  fake_.failing["nvmlDeviceGetTemperature"] = Return::kDeprecated;
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_EQ(*read(*monitor, 0).temperature_c, 62);
}

TEST_F(NvmlMonitorTest, ADriverThatDoesNotKnowTheNewStructureIsAskedTheOldWay) {
  fake_.failing["nvmlDeviceGetMemoryInfo_v2"] = Return::kArgumentVersionMismatch;
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_EQ(*read(*monitor, 0).memory_used_bytes, 350);
}

TEST_F(NvmlMonitorTest, WithoutAnyOptionalFunctionEverythingIsNotSupported) {
  for (const std::string& name : kReadingCalls) fake_.missing.insert(name);
  fake_.missing.insert({"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlShutdown"});
  auto monitor = open();
  const auto devices = monitor->enumerate();
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[0].name, "");
  EXPECT_FALSE((*devices)[0].total_memory_bytes.has_value());
  expect_all_absent(read(*monitor, 0), WhyAbsent::kNotSupported);
  EXPECT_THAT(*monitor->utilization_samples(0), ::testing::IsEmpty());
}

TEST_F(NvmlMonitorTest, WhatIsRefusedForGoodIsAskedOnce) {
  for (const Return code : {Return::kNotSupported, Return::kNoPermission}) {
    for (const std::string& name : kReadingCalls) fake_.failing[name] = code;
    fake_.calls.clear();
    auto monitor = open();
    ASSERT_TRUE(monitor->enumerate());
    const WhyAbsent why =
        code == Return::kNoPermission ? WhyAbsent::kNoPermission : WhyAbsent::kNotSupported;
    for (int i = 0; i < 3; ++i) expect_all_absent(read(*monitor, 0), why);
    // Listing the devices again forgets nothing.
    ASSERT_TRUE(monitor->enumerate());
    expect_all_absent(read(*monitor, 0), why);
    EXPECT_EQ(fake_.calls["nvmlDeviceGetUtilizationRates"], 1);
    EXPECT_EQ(fake_.calls["nvmlDeviceGetPowerUsage"], 1);
    EXPECT_EQ(fake_.calls["nvmlGpmQueryDeviceSupport"], 1);
    EXPECT_EQ(fake_.calls["nvmlDeviceGetFieldValues"], 1);
  }
}

TEST_F(NvmlMonitorTest, WhatFailsForNowIsAskedAgain) {
  fake_.failing["nvmlDeviceGetPowerUsage"] = Return::kTimeout;
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_EQ(read(*monitor, 0).power_w.why_absent(), WhyAbsent::kNotObserved);
  fake_.failing.clear();
  EXPECT_DOUBLE_EQ(*read(*monitor, 0).power_w, 250.5);
}

TEST_F(NvmlMonitorTest, ARefusalOfOneDeviceDoesNotSilenceTheOther) {
  fake_.failing_on_1["nvmlDeviceGetPowerUsage"] = Return::kNotSupported;
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_FALSE(read(*monitor, 1).power_w.has_value());
  EXPECT_TRUE(read(*monitor, 0).power_w.has_value());
}

TEST_F(NvmlMonitorTest, ALostGpuIsAbsentAndTheOtherIsRead) {
  auto monitor = open();
  ASSERT_EQ(monitor->enumerate()->size(), 2U);
  for (const std::string& name : kReadingCalls) fake_.failing_on_1[name] = Return::kGpuIsLost;
  fake_.failing_on_1["nvmlDeviceGetHandleByIndex_v2"] = Return::kGpuIsLost;
  fake_.failing_on_1["nvmlGpmSampleGet"] = Return::kGpuIsLost;
  expect_all_absent(read(*monitor, 1), WhyAbsent::kNotObserved);
  EXPECT_DOUBLE_EQ(*read(*monitor, 0).utilization_ratio, 0.73);
  EXPECT_EQ(monitor->enumerate()->size(), 2U);
  fake_.failing_on_1.clear();
  EXPECT_DOUBLE_EQ(*read(*monitor, 1).utilization_ratio, 0.73);
}

TEST_F(NvmlMonitorTest, WhatALostGpuReportedLastIsStillRead) {
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_EQ(*read(*monitor, 1).xid_errors, 0);
  fake_.events = {{.type = nvml::kEventXid, .data = 79}};
  for (const std::string& name : kReadingCalls) fake_.failing_on_1[name] = Return::kGpuIsLost;
  fake_.failing_on_1["nvmlDeviceGetUUID"] = Return::kGpuIsLost;
  fake_.failing_on_1["nvmlDeviceGetName"] = Return::kGpuIsLost;
  ASSERT_EQ(monitor->enumerate()->size(), 2U);
  const GpuReadings readings = read(*monitor, 1);
  EXPECT_EQ(*readings.last_xid, 79);
  EXPECT_EQ(readings.new_errors.size(), 1U);
  EXPECT_EQ(fake_.calls["nvmlEventSetFree"], 0) << "what had arrived would go with the set";
}

TEST_F(NvmlMonitorTest, AGpuThatIsLostFromTheStartIsLeftOut) {
  fake_.failing_on_1["nvmlDeviceGetHandleByIndex_v2"] = Return::kGpuIsLost;
  auto monitor = open();
  const auto devices = monitor->enumerate();
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ((*devices)[0].index, 0);
  EXPECT_EQ(monitor->read(1).error().code, ErrorCode::kNotFound);
}

TEST_F(NvmlMonitorTest, GpmNeedsTwoSamplesAHundredMillisecondsApart) {
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  EXPECT_EQ(read(*monitor, 0).sm_activity_ratio.why_absent(), WhyAbsent::kNotObserved);
  clock_.advance_ns(50 * kMs);
  EXPECT_FALSE(read(*monitor, 0).sm_activity_ratio.has_value());
  EXPECT_EQ(fake_.calls["nvmlGpmSampleGet"], 1);
  clock_.advance_ns(50 * kMs);
  EXPECT_DOUBLE_EQ(*read(*monitor, 0).sm_activity_ratio, 0.4);
  EXPECT_DOUBLE_EQ(*read(*monitor, 0).dram_activity_ratio, 0.4);
  EXPECT_EQ(read(*monitor, 0).tensor_activity_ratio.why_absent(), WhyAbsent::kNotSupported);
  EXPECT_EQ(fake_.calls["nvmlGpmSampleGet"], 2);
}

TEST_F(NvmlMonitorTest, GpmSamplesAreFreed) {
  {
    auto monitor = open();
    ASSERT_TRUE(monitor->enumerate());
    read(*monitor, 0);
    read(*monitor, 1);
  }
  EXPECT_EQ(fake_.calls["nvmlGpmSampleAlloc"], 4);
  EXPECT_EQ(fake_.calls["nvmlGpmSampleFree"], 4);
  EXPECT_EQ(fake_.calls["nvmlShutdown"], 1);
}

TEST_F(NvmlMonitorTest, UtilizationSamplesComeOnce) {
  auto monitor = open();
  ASSERT_TRUE(monitor->enumerate());
  const auto samples = monitor->utilization_samples(0);
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_DOUBLE_EQ((*samples)[1].utilization_ratio, 0.9);
  EXPECT_THAT(*monitor->utilization_samples(0), ::testing::IsEmpty());
}

// Every call that the monitor makes is failed, with every kind of failure: no crash, no value.
TEST_F(NvmlMonitorTest, AnyCallMayFailInAnyWay) {
  std::vector<std::string> calls = kReadingCalls;
  calls.insert(calls.end(), {"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2",
                             "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlGpmSampleAlloc",
                             "nvmlGpmSampleGet", "nvmlGpmMetricsGet", "field"});
  for (const std::string& name : calls) {
    for (const Return code : {Return::kUnknown, Return::kNotSupported, Return::kGpuIsLost,
                              Return::kInsufficientSize, Return::kUninitialized}) {
      fake_.failing = {{name, code}};
      auto monitor = open();
      const auto devices = monitor->enumerate();
      if (!devices) continue;
      for (const GpuDescription& device : *devices) {
        for (int i = 0; i < 3; ++i) {
          EXPECT_TRUE(monitor->read(device.index));
          EXPECT_TRUE(monitor->utilization_samples(device.index));
          clock_.advance_ns(100 * kMs);
        }
      }
    }
  }
}

TEST_F(NvmlMonitorTest, WhatIsNotNvmlIsRefusedByName) {
  fake_.missing = {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"};
  const auto library = NvmlLibrary::load(fake_.lookup(), "libother.so");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, ::testing::HasSubstr("libother.so is not NVML"));
}

TEST_F(NvmlMonitorTest, ADriverThatIsNotLoadedSaysSo) {
  fake_.failing["nvmlInit_v2"] = Return::kDriverNotLoaded;
  const auto library = NvmlLibrary::load(fake_.lookup(), "fake");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kNotSupported);
  EXPECT_THAT(library.error().message, ::testing::HasSubstr("driver is not loaded"));
}

TEST(OpenGpuMonitor, WithoutADriverThereAreNoDevicesAndAReason) {
  SteadyClock clock;
  auto monitor = open_gpu_monitor({.system_nvml = "libno-such-nvml.so.1"}, clock);
  ASSERT_TRUE(monitor);
  EXPECT_THAT(*(*monitor)->enumerate(), ::testing::IsEmpty());
  EXPECT_FALSE((*monitor)->read(0));
  EXPECT_FALSE((*monitor)->utilization_samples(0));
  EXPECT_THAT((*monitor)->source(), ::testing::HasSubstr("libno-such-nvml.so.1"));
}

TEST(OpenGpuMonitor, ALibraryThatWasAskedForAndIsNotThereIsAnError) {
  SteadyClock clock;
  const auto monitor = open_gpu_monitor({.nvml_path = "/nonexistent/libnvml.so"}, clock);
  ASSERT_FALSE(monitor);
  EXPECT_EQ(monitor.error().code, ErrorCode::kNotFound);
}

TEST(OpenGpuMonitor, ALibraryThatIsSomethingElseIsAnError) {
  SteadyClock clock;
  const auto monitor = open_gpu_monitor({.nvml_path = "libm.so.6"}, clock);
  ASSERT_FALSE(monitor);
  EXPECT_THAT(monitor.error().message, ::testing::HasSubstr("is not NVML"));
}

}  // namespace
}  // namespace unstarve::device
