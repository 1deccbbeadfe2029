#include "trace/device_activity.h"

#include <gtest/gtest.h>

#include "base/cupti_ring.h"
#include "base/testing/test_folder.h"
#include "trace/hook_event.h"
#include "trace/testing/recorded_rows.h"

namespace unstarve::trace {
namespace {

template <class Record>
bool decode(const Record& record, RecordedRows& rows, const DeviceRingView& view = {}) {
  const cupti::RingRecord ring = cupti::to_ring_record(record);
  KernelNames names("");
  DeviceRingText text;
  text.names = {"gemm", "ncclAllReduce"};
  names.set_text(text);
  DeviceRingView named = view;
  if (named.names == nullptr) named.names = &names;
  return decode_device_activity(std::as_bytes(std::span(&ring, 1)), named, rows);
}

TEST(DeviceActivity, KernelsCopiesMemsetsAndCallsBecomeEvents) {
  RecordedRows rows;
  cupti::Kernel kernel;
  kernel.start_ns = 10;
  kernel.end_ns = 20;
  kernel.correlation_id = 5;
  kernel.stream_id = 7;
  EXPECT_TRUE(decode(kernel, rows));
  kernel.name = 1;
  EXPECT_TRUE(decode(kernel, rows));
  cupti::Memcpy copy;
  copy.copy_kind = static_cast<std::uint8_t>(cupti::CopyKind::kHostToDevice);
  copy.source_kind = static_cast<std::uint8_t>(cupti::MemoryKind::kPageable);
  copy.target_kind = static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
  copy.bytes = 4096;
  EXPECT_TRUE(decode(copy, rows));
  EXPECT_TRUE(decode(cupti::Memset{}, rows));
  cupti::ApiCall call;
  call.call = static_cast<std::uint32_t>(cupti::RuntimeCall::kCudaLaunchKernel);
  call.thread_id = 12;
  call.process_id = 11;
  call.correlation_id = 5;
  EXPECT_TRUE(decode(call, rows));
  EXPECT_TRUE(decode(cupti::Synchronization{}, rows));

  ASSERT_EQ(rows.operations.size(), 4U);
  EXPECT_EQ(rows.operations[0].second, "gemm");
  EXPECT_EQ(rows.operations[0].first.kind, DeviceOpKind::kCompute);
  EXPECT_EQ(rows.operations[0].first.correlation, 5);
  EXPECT_EQ(rows.operations[1].first.kind, DeviceOpKind::kCommunication);
  EXPECT_EQ(rows.operations[2].first.direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(rows.operations[2].first.source, MemoryKind::kPageable);
  EXPECT_EQ(rows.operations[2].first.bytes, 4096);
  EXPECT_EQ(rows.operations[3].first.kind, DeviceOpKind::kMemset);
  ASSERT_EQ(rows.calls.size(), 1U);
  EXPECT_EQ(rows.calls[0].second, "cudaLaunchKernel");
  EXPECT_EQ(rows.calls[0].first.kind, HostCallKind::kLaunch);
  EXPECT_EQ(rows.calls[0].first.thread, 12);
}

TEST(DeviceActivity, ProcessesKeepTheirNumbersApartAndADeviceItsOwn) {
  RecordedRows rows;
  cupti::Kernel kernel;
  kernel.correlation_id = 5;
  cupti::ApiCall call;
  call.kind = static_cast<std::uint32_t>(cupti::Kind::kDriver);
  call.call = static_cast<std::uint32_t>(cupti::DriverCall::kCuLaunchKernel);
  call.correlation_id = 5;
  for (const std::int64_t process : {100, 200}) {
    const DeviceRingView view{.names = nullptr, .device = 3, .process = process};
    EXPECT_TRUE(decode(kernel, rows, view));
    EXPECT_TRUE(decode(call, rows, view));
  }
  ASSERT_EQ(rows.operations.size(), 2U);
  ASSERT_EQ(rows.calls.size(), 2U);
  EXPECT_EQ(rows.operations[0].first.device, 3);
  EXPECT_EQ(rows.operations[0].first.correlation, rows.calls[0].first.correlation);
  EXPECT_EQ(rows.operations[1].first.correlation, rows.calls[1].first.correlation);
  EXPECT_NE(rows.operations[0].first.correlation, rows.operations[1].first.correlation);
  EXPECT_EQ(rows.calls[0].second, "cuLaunchKernel");
}

TEST(DeviceActivity, NamesBesideARingAreReadAsTheyGrow) {
  const TestFolder folder;
  const std::string path = folder.path() + "/kernel_names.ring";
  auto writer = RingNamesWriter::create(path);
  ASSERT_TRUE(writer);
  KernelNames names(path);
  DeviceRingText text;
  text.names = {"not this"};
  text.names_beside = true;
  names.set_text(text);
  EXPECT_EQ(names.name(0), "");
  EXPECT_EQ(writer->number_of("_Z4gemmIfEvPT_"), 0U);
  EXPECT_EQ(writer->number_of("cublasGemmEx"), 1U);
  EXPECT_EQ(names.name(1), "cublasGemmEx");
  EXPECT_EQ(names.name(0), "void gemm<float>(float*)");
}

TEST(DeviceActivity, DamagedRecordsGiveNothing) {
  RecordedRows rows;
  cupti::Kernel kernel;
  kernel.start_ns = 20;
  kernel.end_ns = 10;
  EXPECT_FALSE(decode(kernel, rows));
  kernel.end_ns = ~0ULL;
  EXPECT_FALSE(decode(kernel, rows));
  cupti::RingRecord ring;
  ring.kind = 999;
  EXPECT_FALSE(decode_device_activity(std::as_bytes(std::span(&ring, 1)), {}, rows));
  ring.kind = static_cast<std::uint32_t>(cupti::Kind::kMemcpy);
  ring.size = 4;
  EXPECT_FALSE(decode_device_activity(std::as_bytes(std::span(&ring, 1)), {}, rows));
  EXPECT_FALSE(decode_device_activity({}, {}, rows));
  EXPECT_TRUE(rows.operations.empty());
}

TEST(DeviceRingText, WhatCannotBeUsedIsLeftOut) {
  const auto text = parse_device_ring_text(
      R"({"name": "A100", "emulated": true, "index": "x", "names": ["a", 3],)"
      R"("total_memory_bytes": 9})");
  ASSERT_TRUE(text);
  ASSERT_EQ(text->devices.size(), 1);
  EXPECT_EQ(text->devices[0].name, "A100");
  EXPECT_TRUE(text->devices[0].emulated);
  EXPECT_EQ(text->devices[0].index, 0);
  EXPECT_EQ(text->index, 0);
  EXPECT_EQ(*text->devices[0].total_memory_bytes, 9);
  EXPECT_EQ(text->names, (std::vector<std::string>{"a", ""}));
  EXPECT_FALSE(parse_device_ring_text("{\"name\": "));
  EXPECT_FALSE(parse_device_ring_text("[]"));
}

TEST(DeviceRingText, OneRingMayBeAboutSeveralDevices) {
  const auto text =
      parse_device_ring_text(R"({"devices": [{"index": 1, "name": "A100"}, 7, {"index": 3}],)"
                             R"("cupti": {"remark": "it is taken"}})");
  ASSERT_TRUE(text);
  EXPECT_FALSE(text->index) << "each record says which";
  ASSERT_EQ(text->devices.size(), 2);
  EXPECT_EQ(text->devices[0].index, 1);
  EXPECT_EQ(text->devices[0].name, "A100");
  EXPECT_EQ(text->devices[1].index, 3);
  EXPECT_EQ(text->remark, "it is taken");
  EXPECT_TRUE(parse_device_ring_text(R"({"devices": []})")->devices.empty()) << "none by now";
}

TEST(HookEvent, TimesThatRunBackwardsAreDamage) {
  RecordedRows rows;
  std::int64_t words[8] = {2, 30, 20, 0, 0, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_EQ(decode_hook_event(bytes, {1}, rows), HookRecord::kDamaged);
  words[2] = 31;
  EXPECT_EQ(decode_hook_event(bytes, {1}, rows), HookRecord::kTaken);
  EXPECT_EQ(decode_hook_event(bytes.first(63), {1}, rows), HookRecord::kDamaged);
  words[0] = 6;
  EXPECT_EQ(decode_hook_event(bytes, {1}, rows), HookRecord::kEnd);
  EXPECT_EQ(rows.steps.size(), 1U);
  ASSERT_EQ(rows.ends.size(), 1U);
  EXPECT_EQ(rows.ends[0].ended_ns, 31);
}

TEST(HookEvent, HostWorkHasAKindThatIsKnown) {
  RecordedRows rows;
  std::int64_t words[8] = {11, 20, 30, 1, 0, 0, 0, 0};
  const auto bytes = std::as_bytes(std::span(words));
  EXPECT_EQ(decode_hook_event(bytes, {1}, rows), HookRecord::kTaken);
  ASSERT_EQ(rows.host_work.size(), 1U);
  EXPECT_EQ(rows.host_work[0].kind, HostWorkKind::kSave);
  EXPECT_EQ(rows.host_work[0].when.end_ns, 30);
  words[3] = 7;
  EXPECT_EQ(decode_hook_event(bytes, {1}, rows), HookRecord::kDamaged);
}

TEST(DeviceActivity, AWindowComesWhenItOpensAndWhenItHasClosed) {
  RecordedRows rows;
  const DeviceRingView ring{.names = nullptr, .device = -1, .process = 9, .born_ns = 90};
  cupti::RecordingWindow window;
  window.number = 2;
  window.start_ns = 100;
  EXPECT_TRUE(decode(window, rows, ring));
  window.end_ns = 150;
  window.clock_error_ns = 4;
  window.records_lost = 1;
  EXPECT_TRUE(decode(window, rows, ring));
  ASSERT_EQ(rows.windows.size(), 2U);
  EXPECT_FALSE(rows.windows[0].end_ns);
  EXPECT_EQ(rows.windows[1].process.pid, 9);
  EXPECT_EQ(rows.windows[1].process.born_ns, 90);
  EXPECT_EQ(rows.windows[1].number, 2);
  EXPECT_EQ(rows.windows[1].start_ns, 100);
  EXPECT_EQ(*rows.windows[1].end_ns, 150);
  EXPECT_EQ(rows.windows[1].clock_error_ns, 4);
  EXPECT_EQ(rows.windows[1].records_lost, 1);
}

TEST(DeviceActivity, AWindowThatEndsBeforeItBeginsIsDamaged) {
  RecordedRows rows;
  cupti::RecordingWindow window;
  window.start_ns = 100;
  window.end_ns = 50;
  EXPECT_FALSE(decode(window, rows));
  window.end_ns = -50;
  EXPECT_FALSE(decode(window, rows));
  window = {};
  window.start_ns = -1;
  EXPECT_FALSE(decode(window, rows));
  EXPECT_TRUE(rows.windows.empty());
}

}  // namespace
}  // namespace unstarve::trace
