#include "trace/timeline/timeline.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "trace/timeline/used_devices.h"
#include "trace/timeline_sink.h"

namespace unstarve::trace {
namespace {

TEST(ClassifyHostCall, KnowsLaunchesSyncsAndAllocations) {
  EXPECT_EQ(classify_host_call("cudaLaunchKernel"), HostCallKind::kLaunch);
  EXPECT_EQ(classify_host_call("hipMemcpyAsync"), HostCallKind::kLaunch);
  EXPECT_EQ(classify_host_call("cudaMemcpy"), HostCallKind::kSync);
  EXPECT_EQ(classify_host_call("cuStreamSynchronize"), HostCallKind::kSync);
  EXPECT_EQ(classify_host_call("cudaMalloc"), HostCallKind::kAllocation);
  EXPECT_EQ(classify_host_call("cudaFreeHost"), HostCallKind::kAllocation);
  EXPECT_EQ(classify_host_call("cudaGetDevice"), HostCallKind::kOther);
  EXPECT_EQ(classify_host_call("cudaStreamWaitEvent"), HostCallKind::kOther);
}

TEST(CommunicationKernel, IsFoundByName) {
  EXPECT_TRUE(is_communication_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"));
  EXPECT_FALSE(is_communication_kernel("volta_sgemm_128x64_nn"));
}

TEST(UsedDevices, AreDescribedAndNotMoreThanAMachineHas) {
  Timeline timeline;
  timeline.file = "t.json";
  for (const std::int32_t device : {3, 1, 3}) timeline.device_ops.emplace_back().device = device;
  ASSERT_TRUE(list_devices({{.index = 0}, {.index = 3, .name = "A100"}}, timeline));
  ASSERT_EQ(timeline.devices.size(), 2U);
  EXPECT_EQ(timeline.devices[0].index, 1);
  EXPECT_EQ(timeline.devices[0].name, "");
  EXPECT_EQ(timeline.devices[1].name, "A100");
  for (std::int32_t i = 0; i < 1022; ++i) timeline.device_ops.emplace_back().device = 10 + i;
  EXPECT_EQ(used_devices(timeline)->size(), 1024U);
  timeline.device_ops.emplace_back().device = -5;
  const auto refused = used_devices(timeline);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "t.json is damaged: it names 1025 devices, more than any machine has");
}

TEST(NameTable, GivesOneIdPerName) {
  Timeline timeline;
  NameTable names(timeline);
  const NameId a = names.intern("a");
  EXPECT_EQ(names.intern("a"), a);
  EXPECT_NE(names.intern("b"), a);
  EXPECT_EQ(timeline.name_of(a), "a");
  EXPECT_EQ(timeline.name_of(99), "");
}

// Of a long run: the first window and some others, with all of their events and no other's.
TEST(TimelineSink, ReadsTheEventsOfWindowsDrawnByLot) {
  Timeline timeline;
  TimelineSink sink(timeline);
  constexpr std::int64_t kPeriod = 10'000'000'000;
  constexpr std::int64_t kLength = 1'000'000'000;
  constexpr int kWindows = 64;
  for (int number = 0; number < kWindows; ++number) {
    sink.add(WindowRow{{9, 1}, number, number * kPeriod, number * kPeriod + kLength, 0, 0});
  }
  sink.leave_out_windows(2);
  EXPECT_EQ(sink.windows(), 16U);
  for (int number = 0; number < kWindows; ++number) {
    DeviceOp op;
    op.correlation = correlation_of(9, static_cast<std::uint32_t>(number));
    op.start_ns = number * kPeriod - 10;  // by the device's clock, which is a little off
    op.end_ns = op.start_ns + 100;
    sink.add(op, "kernel");
    sink.add(HostCall{op.start_ns + 20, op.end_ns, op.correlation, 9, 9, 0, HostCallKind::kLaunch},
             "launch");
  }
  // One that opens later, as the rings of a killed run tell, is read.
  sink.add(WindowRow{{9, 1}, kWindows, kWindows * kPeriod, kWindows * kPeriod + kLength, 0, 0});
  DeviceOp last;
  last.correlation = correlation_of(9, kWindows);
  last.start_ns = kWindows * kPeriod + 5;
  last.end_ns = last.start_ns + 5;
  sink.add(last, "kernel");
  sink.finish();
  ASSERT_EQ(timeline.windows.size(), 17U);
  ASSERT_EQ(timeline.device_ops.size(), 17U);
  ASSERT_EQ(timeline.host_calls.size(), 16U);
  EXPECT_EQ(timeline.windows.front().when.start_ns, 0);
  for (std::size_t i = 0; i < timeline.windows.size(); ++i) {
    EXPECT_LT(std::abs(timeline.device_ops[i].start_ns - timeline.windows[i].when.start_ns), 20);
  }
}

}  // namespace
}  // namespace unstarve::trace
