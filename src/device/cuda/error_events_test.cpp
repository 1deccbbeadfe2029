#include "device/cuda/error_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/testing/fake_nvml.h"

namespace unstarve::device {
namespace {

using nvml::Return;
using test::FakeNvml;

nvml::EventData xid(std::uint64_t number, std::uint32_t gpu_instance = nvml::kNoInstance) {
  return {.type = nvml::kEventXid, .data = number, .gpu_instance = gpu_instance};
}

class ErrorEventsTest : public ::testing::Test {
 protected:
  NvmlLibrary load() {
    Result<NvmlLibrary> library = NvmlLibrary::load(fake_.lookup(), "fake");
    EXPECT_TRUE(library) << library.error().message;
    return std::move(*library);
  }
  /// What one read() says at once.
  GpuReadings read(ErrorEvents& events) {
    GpuReadings readings;
    readings.new_errors.push_back({.xid = 1});  // of a read() before
    events.read(readings);
    return readings;
  }
  std::vector<std::int64_t> numbers(const GpuReadings& readings) {
    std::vector<std::int64_t> xids;
    for (const GpuError& error : readings.new_errors) xids.push_back(error.xid);
    return xids;
  }
  FakeNvml fake_;
};

TEST_F(ErrorEventsTest, CountsThemAndGivesEachOnce) {
  const NvmlLibrary library = load();
  ErrorEvents events(library, &fake_.devices[0]);
  GpuReadings readings = read(events);
  EXPECT_EQ(*readings.xid_errors, 0);
  EXPECT_EQ(readings.last_xid.why_absent(), WhyAbsent::kNotObserved);
  EXPECT_THAT(readings.new_errors, ::testing::IsEmpty());
  fake_.events = {xid(13), xid(43)};
  readings = read(events);
  EXPECT_EQ(*readings.xid_errors, 2);
  EXPECT_EQ(*readings.last_xid, 43);
  EXPECT_THAT(numbers(readings), ::testing::ElementsAre(13, 43));
  readings = read(events);
  EXPECT_EQ(*readings.xid_errors, 2);
  EXPECT_THAT(readings.new_errors, ::testing::IsEmpty());
}

TEST_F(ErrorEventsTest, OtherEventsAreNoErrors) {
  const NvmlLibrary library = load();
  ErrorEvents events(library, &fake_.devices[0]);
  fake_.events = {{.type = 0x4, .data = 5}, xid(79)};
  EXPECT_THAT(numbers(read(events)), ::testing::ElementsAre(79));
}

TEST_F(ErrorEventsTest, ErrorsWithoutEndComeInParts) {
  const NvmlLibrary library = load();
  ErrorEvents events(library, &fake_.devices[0]);
  fake_.events.assign(1000, xid(94));
  const std::size_t first = read(events).new_errors.size();
  EXPECT_LT(first, 1000U);
  EXPECT_EQ(*read(events).xid_errors, static_cast<std::int64_t>(2 * first));
}

TEST_F(ErrorEventsTest, WhoHasAnInstanceGetsItsErrorsAndTheWholeGpus) {
  const NvmlLibrary library = load();
  ErrorEvents events(library, &fake_.devices[0], 7);
  fake_.events = {xid(31, 8), xid(43, 7), xid(79)};
  const GpuReadings readings = read(events);
  EXPECT_THAT(numbers(readings), ::testing::ElementsAre(43, 79));
  EXPECT_EQ(readings.new_errors[0].gpu_instance, 7);
  EXPECT_EQ(readings.new_errors[1].gpu_instance, std::nullopt);
}

TEST_F(ErrorEventsTest, WhatIsRefusedIsAbsentAndAskedOnce) {
  const NvmlLibrary library = load();
  for (const char* name :
       {"nvmlDeviceGetSupportedEventTypes", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents"}) {
    for (const Return code : {Return::kNotSupported, Return::kNoPermission, Return::kUnknown}) {
      fake_.failing = {{name, code}};
      fake_.calls.clear();
      fake_.events = {xid(79)};
      {
        ErrorEvents events(library, &fake_.devices[0]);
        const WhyAbsent why =
            code == Return::kNoPermission ? WhyAbsent::kNoPermission : WhyAbsent::kNotSupported;
        for (int i = 0; i < 3; ++i) {
          const GpuReadings readings = read(events);
          EXPECT_EQ(readings.xid_errors.why_absent(), why);
          EXPECT_EQ(readings.last_xid.why_absent(), why);
          EXPECT_FALSE(readings.xid_errors.has_value());
        }
        EXPECT_EQ(fake_.calls[name], 1);
      }
      const bool made = std::string_view(name) == "nvmlDeviceRegisterEvents";
      EXPECT_EQ(fake_.calls["nvmlEventSetFree"], made ? 1 : 0) << name;
    }
  }
}

TEST_F(ErrorEventsTest, ADriverWithoutEventsSaysNotSupported) {
  for (const char* name : {"nvmlDeviceGetSupportedEventTypes", "nvmlEventSetCreate",
                           "nvmlEventSetFree", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"}) {
    fake_.missing = {name};
    const NvmlLibrary library = load();
    ErrorEvents events(library, &fake_.devices[0]);
    EXPECT_EQ(read(events).xid_errors.why_absent(), WhyAbsent::kNotSupported) << name;
  }
}

TEST_F(ErrorEventsTest, AGpuThatIsLostKeepsWhatItSaidAndMayComeBack) {
  const NvmlLibrary library = load();
  ErrorEvents events(library, &fake_.devices[0]);
  fake_.failing["nvmlDeviceRegisterEvents"] = Return::kGpuIsLost;
  EXPECT_EQ(read(events).xid_errors.why_absent(), WhyAbsent::kNotObserved);
  fake_.failing.clear();
  fake_.events = {xid(79)};
  EXPECT_EQ(*read(events).xid_errors, 1);
  fake_.failing["nvmlEventSetWait_v2"] = Return::kGpuIsLost;
  const GpuReadings readings = read(events);
  EXPECT_EQ(*readings.xid_errors, 1);
  EXPECT_EQ(*readings.last_xid, 79);
}

TEST_F(ErrorEventsTest, ItsSetIsFreed) {
  const NvmlLibrary library = load();
  {
    ErrorEvents events(library, &fake_.devices[0]);
    read(events);
  }
  EXPECT_EQ(fake_.calls["nvmlEventSetFree"], 1);
}

}  // namespace
}  // namespace unstarve::device
