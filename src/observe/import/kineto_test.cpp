// Small traces, each for one habit of one profiler.
#include "observe/import/kineto.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/timeline/timeline.h"

namespace unstarve::observe {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;
using trace::HostCallKind;
using trace::MemoryKind;
using trace::Timeline;

std::string with_events(const std::string& events) {
  return "{\"schemaVersion\": 1, \"traceEvents\": [" + events + "], \"traceName\": \"x\"}";
}

Timeline read(const std::string& text) {
  auto timeline = import_kineto_bytes(text, "t.json");
  EXPECT_TRUE(timeline) << timeline.error().message;
  return timeline ? std::move(*timeline) : Timeline();
}

Timeline read_events(const std::string& events) { return read(with_events(events)); }

TEST(Kineto, KernelAndItsLaunch) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":100.5,"dur":4,
     "args":{"cbid":211,"correlation":42}},
    {"ph":"X","cat":"kernel","name":"gemm","pid":1,"tid":7,"ts":110.125,"dur":2.5,
     "args":{"device":1,"stream":7,"correlation":42}},
    {"ph":"s","id":42,"cat":"ac2g","name":"ac2g","pid":10,"tid":11,"ts":100.5})json");
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  const trace::DeviceOp& op = timeline.device_ops[0];
  EXPECT_EQ(op.start_ns, 110'125);
  EXPECT_EQ(op.end_ns, 112'625);
  EXPECT_EQ(op.device, 1);
  EXPECT_EQ(op.stream, 7);
  EXPECT_EQ(op.correlation, 42);
  EXPECT_EQ(op.kind, DeviceOpKind::kCompute);
  EXPECT_EQ(timeline.name_of(op.name), "gemm");
  ASSERT_EQ(timeline.host_calls.size(), 1U);
  const trace::HostCall& call = timeline.host_calls[0];
  EXPECT_EQ(call.start_ns, 100'500);
  EXPECT_EQ(call.thread, 11);
  EXPECT_EQ(call.process, 10);
  EXPECT_EQ(call.correlation, 42);
  EXPECT_EQ(call.kind, HostCallKind::kLaunch);
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_EQ(timeline.devices[0].index, 1);
}

TEST(Kineto, OldCategoriesAndTextThreads) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"Operator","name":"ProfilerStep#3","pid":9,"tid":"9","ts":1,"dur":100},
    {"ph":"X","cat":"Operator","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
     "pid":9,"tid":"9","ts":2,"dur":5},
    {"ph":"X","cat":"Operator","name":"aten::add","pid":9,"tid":"9","ts":3,"dur":5},
    {"ph":"X","cat":"Runtime","name":"cudaDeviceSynchronize","pid":9,"tid":"9","ts":8,"dur":1},
    {"ph":"X","cat":"Kernel","name":"ncclKernel_AllReduce","pid":0,"tid":"stream 7","ts":9,"dur":1},
    {"ph":"X","cat":"Memset","name":"Memset (Device)","pid":0,"tid":"stream 7","ts":11,"dur":1,
     "args":{
  "bytes" : 64}},
    {"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":"GPU 2",
     "tid":"stream 20","ts":12,"dur":1,"args":{"bytes":10}})json");
  ASSERT_EQ(timeline.steps.size(), 1U);
  EXPECT_EQ(timeline.steps[0].index, 3);
  EXPECT_EQ(timeline.steps[0].thread, 9);
  ASSERT_EQ(timeline.loader_waits.size(), 1U);
  EXPECT_EQ(timeline.loader_waits[0].thread, 9);
  EXPECT_EQ(timeline.loader_waits[0].when.duration_ns(), 5'000);
  ASSERT_EQ(timeline.host_calls.size(), 1U);
  EXPECT_EQ(timeline.host_calls[0].kind, HostCallKind::kSync);
  ASSERT_EQ(timeline.device_ops.size(), 3U);
  EXPECT_EQ(timeline.device_ops[0].kind, DeviceOpKind::kCommunication);
  EXPECT_EQ(timeline.device_ops[0].stream, 7);
  EXPECT_EQ(timeline.device_ops[0].correlation, trace::kNoCorrelation);
  EXPECT_EQ(timeline.device_ops[1].kind, DeviceOpKind::kMemset);
  EXPECT_EQ(timeline.device_ops[1].bytes, 64);
  EXPECT_EQ(timeline.device_ops[2].kind, DeviceOpKind::kCopy);
  EXPECT_EQ(timeline.device_ops[2].device, 2);
  EXPECT_EQ(timeline.device_ops[2].stream, 20);
}

TEST(Kineto, TheWorkOfDevicesThatAreNotJudgedIsNamed) {
  const auto device_of = [](const std::string& category) {
    const Timeline timeline = read_events(
        R"json({"ph":"X","cat":"cpu_op","name":"ProfilerStep#3","pid":9,"tid":9,"ts":1,"dur":9},
               {"ph":"X","ts":1,"dur":1,"pid":0,"tid":7,"name":"x","cat":")json" +
        category + "\"}");
    EXPECT_EQ(timeline.events_lost, 0);
    const trace::TrainingDevice* const device = timeline.device_of(9);
    return device == nullptr ? std::string("none") : device->kind;
  };
  EXPECT_EQ(device_of("mtia_ccp_events"), "mtia");
  EXPECT_EQ(device_of("mtia_runtime"), "mtia");
  EXPECT_EQ(device_of("hpu_op"), "hpu");
  EXPECT_EQ(device_of("kernel"), "none");
}

TEST(Kineto, CopiesSayWhichMemory) {
  const auto copy_named = [](const std::string& name) {
    const Timeline timeline = read_events(
        R"json({"ph":"X","cat":"gpu_memcpy","ts":1,"dur":1,"pid":0,"tid":7,"name":")json" + name +
        "\"}");
    return timeline.device_ops.empty() ? trace::DeviceOp() : timeline.device_ops[0];
  };
  const trace::DeviceOp pageable = copy_named("Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(pageable.direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(pageable.source, MemoryKind::kPageable);
  EXPECT_EQ(pageable.target, MemoryKind::kDevice);
  const trace::DeviceOp pinned = copy_named("Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(pinned.direction, CopyDirection::kDeviceToHost);
  EXPECT_EQ(pinned.source, MemoryKind::kDevice);
  EXPECT_EQ(pinned.target, MemoryKind::kPinned);
  const trace::DeviceOp rocm = copy_named("Memcpy HtoD (Host -> Device)");
  EXPECT_EQ(rocm.direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(rocm.source, MemoryKind::kUnknown);
  EXPECT_EQ(copy_named("CopyDeviceToHost").direction, CopyDirection::kDeviceToHost);
  EXPECT_EQ(copy_named("Memcpy (Pinned -> Device)").direction, CopyDirection::kHostToDevice);
  EXPECT_EQ(copy_named("Memcpy DtoD (Device -> Device)").direction, CopyDirection::kDeviceToDevice);
  EXPECT_EQ(copy_named("Memcpy PtoP (Device -> Device)").direction, CopyDirection::kPeerToPeer);
  EXPECT_EQ(copy_named("Memcpy").direction, CopyDirection::kUnknown);
}

// Three launches below one operation of the framework, and a copy with the wait for it below
// another.
TEST(Kineto, OldProfilersLinkByTheFrameworksOperation) {
  const std::string events = R"json(
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,
     "args":{"external id":7}},
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":3,"dur":1,
     "args":{"external id":7}},
    {"ph":"X","cat":"Runtime","name":"cudaMemcpyAsync","pid":9,"tid":9,"ts":5,"dur":1,
     "args":{"external id":8}},
    {"ph":"X","cat":"Runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":6,"dur":90,
     "args":{"external id":8}},
    {"ph":"X","cat":"Kernel","name":"one","pid":0,"tid":7,"ts":10,"dur":1,
     "args":{"external id":7}},
    {"ph":"X","cat":"Kernel","name":"two","pid":0,"tid":7,"ts":20,"dur":1,
     "args":{"external id":7}},
    {"ph":"X","cat":"Memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":7,"ts":90,
     "dur":1,"args":{"external id":8}},
    {"ph":"X","cat":"Kernel","name":"of nobody","pid":0,"tid":7,"ts":95,"dur":1,
     "args":{"external id":0}})json";
  const Timeline timeline = read_events(events);
  ASSERT_EQ(timeline.host_calls.size(), 4U);
  ASSERT_EQ(timeline.device_ops.size(), 4U);
  const auto& calls = timeline.host_calls;
  EXPECT_NE(calls[0].correlation, calls[1].correlation);
  EXPECT_EQ(timeline.device_ops[0].correlation, calls[0].correlation);
  EXPECT_EQ(timeline.device_ops[1].correlation, calls[1].correlation);
  EXPECT_EQ(timeline.device_ops[2].correlation, calls[2].correlation);
  EXPECT_EQ(calls[3].correlation, trace::kNoCorrelation) << "a wait launches nothing";
  EXPECT_EQ(timeline.device_ops[3].correlation, trace::kNoCorrelation);

  // Where there are correlation numbers, they alone count.
  const Timeline newer = read_events(events + R"json(,
    {"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":99,"dur":1,
     "args":{"external id":9,"correlation":3}})json");
  EXPECT_EQ(newer.device_ops[0].correlation, trace::kNoCorrelation);
}

TEST(Kineto, RocmGivesACopysSizeWithItsCall) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"cuda_runtime","name":"hipMemcpyWithStream","pid":5,"tid":5,"ts":1,"dur":1,
     "args":{"stream":"0x0","correlation":117,"size":"2560","kind":"1"}},
    {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":5,"tid":5,"ts":3,"dur":1,
     "args":{"correlation":"118"}},
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":2,"tid":0,"ts":2,
     "dur":1,"args":{
  "device" : "2", "stream" : "0", "correlation" : "117", "kind" : "HtoD"}})json");
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.device_ops[0].bytes, 2560);
  EXPECT_EQ(timeline.device_ops[0].device, 2);
  ASSERT_EQ(timeline.host_calls.size(), 2U);
  EXPECT_EQ(timeline.host_calls[1].kind, HostCallKind::kLaunch);
  EXPECT_EQ(timeline.host_calls[1].correlation, 118);
}

TEST(Kineto, DatesInMicrosecondsKeepTheirNanoseconds) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1712195495507783.123,"dur":0.001})json");
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.device_ops[0].start_ns, 1'712'195'495'507'783'123);
  EXPECT_EQ(timeline.device_ops[0].end_ns, 1'712'195'495'507'783'124);
}

TEST(Kineto, DatesInNanosecondsAreSeenAsSuch) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1712195495507783123,"dur":2500})json");
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.device_ops[0].start_ns, 1'712'195'495'507'783'123);
  EXPECT_EQ(timeline.device_ops[0].end_ns, 1'712'195'495'507'785'623);
}

TEST(Kineto, ACopysBandwidthTellsTheUnit) {
  // 1 MB at 10 GB/s takes 100 us: written once as 100 and once as 100000.
  const auto duration_of = [](const std::string& dur) {
    const Timeline timeline = read_events(
        R"json({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)",)json"
        R"json("pid":0,"tid":7,)json"
        R"json("ts":5000,"dur":)json" +
        dur + R"json(,"args":{"bytes":1000000,"memory bandwidth (GB/s)":10.0}})json");
    return timeline.device_ops.empty()
               ? 0
               : timeline.device_ops[0].end_ns - timeline.device_ops[0].start_ns;
  };
  EXPECT_EQ(duration_of("100"), 100'000);
  EXPECT_EQ(duration_of("100000"), 100'000);
}

TEST(Kineto, ACopyOfMoreThanThereIsSaysNothingOfItsSize) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":5,
     "dur":100,"args":{"bytes":9000000000000000000}},
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,
     "ts":500,"dur":100,"args":{"bytes":4096}})json");
  ASSERT_EQ(timeline.device_ops.size(), 2U);
  EXPECT_EQ(timeline.device_ops[0].bytes, 0);
  EXPECT_EQ(timeline.device_ops[1].bytes, 4096);
}

TEST(Kineto, ACallThatIsTooShortForNanosecondsTellsTheUnit) {
  std::string events =
      R"json({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,)json"
      R"json("ts":1000000,"dur":6})json";
  for (int i = 0; i < 20; ++i) {
    events += R"json(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)json" +
              std::to_string(1'000'000 + i * 10'000) + ",\"dur\":1800}";
  }
  const Timeline timeline = read("{\"traceEvents\":[" + events + "]}");
  EXPECT_EQ(timeline.device_ops[0].end_ns - timeline.device_ops[0].start_ns, 1'800'000);
}

TEST(Kineto, OperationsThatAreAllTooShortTellTheUnit) {
  const auto first_duration = [](const std::string& dur, const std::string& head) {
    std::string events;
    for (int i = 0; i < 20; ++i) {
      events += (i == 0 ? "" : ",");
      events += R"json({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)json" +
                std::to_string(1'000'000 + i * 10'000) + ",\"dur\":" + dur + "}";
    }
    const Timeline timeline = read("{" + head + "\"traceEvents\":[" + events + "]}");
    return timeline.device_ops[0].end_ns - timeline.device_ops[0].start_ns;
  };
  EXPECT_EQ(first_duration("1800", ""), 1'800);  // no kernel of 1.8 ms twenty times in 200 ms
  EXPECT_EQ(first_duration("3", ""), 3'000);
  EXPECT_EQ(first_duration("3", "\"displayTimeUnit\":\"ns\","), 3'000);
}

TEST(Kineto, BeginAndEndMakeOneEvent) {
  const Timeline timeline = read_events(R"json(
    {"ph":"B","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":2,"ts":10},
    {"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":11},
    {"ph":"B","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":12,
     "args":{"correlation":5}},
    {"ph":"B","cat":"cuda_runtime","name":"cudaMalloc","pid":1,"tid":3,"ts":12},
    {"ph":"E","pid":1,"tid":2,"ts":14},
    {"ph":"E","pid":1,"tid":2,"ts":15},
    {"ph":"E","pid":1,"tid":2,"ts":20},
    {"ph":"E","pid":1,"tid":3,"ts":30},
    {"ph":"E","pid":1,"tid":3,"ts":31},
    {"ph":"B","cat":"kernel","name":"never ends","pid":0,"tid":7,"ts":40})json");
  ASSERT_EQ(timeline.steps.size(), 1U);
  EXPECT_EQ(timeline.steps[0].when.start_ns, 10'000);
  EXPECT_EQ(timeline.steps[0].when.end_ns, 20'000);
  ASSERT_EQ(timeline.host_calls.size(), 2U);
  EXPECT_EQ(timeline.host_calls[0].end_ns, 14'000);
  EXPECT_EQ(timeline.host_calls[0].correlation, 5);
  EXPECT_EQ(timeline.host_calls[1].kind, HostCallKind::kAllocation);
  EXPECT_EQ(timeline.host_calls[1].end_ns, 30'000);
  EXPECT_TRUE(timeline.device_ops.empty());
  EXPECT_EQ(timeline.events_lost, 2);  // the end without a beginning, the beginning without an end
}

TEST(Kineto, OneStepUnderTwoCategoriesCountsOnce) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"cpu_op","name":"ProfilerStep#1","pid":1,"tid":2,"ts":10,"dur":5},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":2,"ts":10,"dur":5},
    {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":11,"dur":5},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":2,"ts":15,"dur":5})json");
  EXPECT_EQ(timeline.steps.size(), 2U);
}

TEST(Kineto, DeviceProperties) {
  const Timeline timeline = read(R"json({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":1,"dur":1}],
    "deviceProperties":[{"id":0,"name":"first"},
      {"id":1,"name":"NVIDIA \"H100\"","totalGlobalMem":85045084160,"numSms":132,
       "computeMajor":9,"computeMinor":0,"maxGridDimX":[1,2]}]})json");
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_EQ(timeline.devices[0].name, "NVIDIA \"H100\"");
  EXPECT_EQ(timeline.devices[0].total_memory_bytes.value_or(0), 85'045'084'160);
  EXPECT_EQ(timeline.devices[0].multiprocessors.value_or(0), 132);
  EXPECT_EQ(timeline.devices[0].compute_capability.value_or(0), 9.0);
  EXPECT_FALSE(timeline.devices[0].emulated);
}

TEST(Kineto, AnEmulatedDeviceSaysSoInItsName) {
  const Timeline timeline = read(R"json({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}],
    "deviceProperties":[{"id":0,"name":"Emulated NVIDIA L4"}]})json");
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_TRUE(timeline.devices[0].emulated);
}

TEST(Kineto, WhatTheTraceDoesNotSayStaysAbsent) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1})json");
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_TRUE(timeline.devices[0].name.empty());
  EXPECT_FALSE(timeline.devices[0].multiprocessors.has_value());
  EXPECT_EQ(timeline.device_ops[0].correlation, trace::kNoCorrelation);
}

TEST(Kineto, EventsThatMakeNoSenseAreCounted) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"good","ts":1,"dur":1},
    {"ph":"X","cat":"kernel","name":"no time","dur":1},
    {"ph":"X","cat":"kernel","name":"no duration","ts":1},
    {"ph":"X","cat":"kernel","name":"backwards","ts":1,"dur":-1},
    {"ph":"X","cat":"kernel","name":"text","ts":"soon","dur":1},
    {"ph":"X","cat":"kernel","name":"never","ts":1e300,"dur":1},
    {"ph":"X","cat":"kernel","name":"far","ts":900000000000000000,"dur":1},
    {"ph":"X","cat":"kernel","name":"long","ts":1,"dur":900000000000000000})json");
  EXPECT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.events_lost, 7);
}

TEST(Kineto, TimesAtTheEndsOfTheirRangeDoNotOverflow) {
  const Timeline dates = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1},
    {"ph":"X","cat":"kernel","name":"k","ts":7999999999999999,"dur":500000000000000},
    {"ph":"X","cat":"kernel","name":"k","ts":-500000000000000,"dur":500000000000000},
    {"ph":"X","cat":"kernel","name":"lost","ts":-9223372036854775807,"dur":1})json");
  ASSERT_EQ(dates.device_ops.size(), 3U);
  EXPECT_EQ(dates.device_ops[0].start_ns, -500'000'000'000'000'000);
  EXPECT_EQ(dates.device_ops[2].start_ns, 7'999'999'999'999'999'000);
  EXPECT_EQ(dates.device_ops[2].end_ns, 8'499'999'999'999'999'000);
  const Timeline late = read_events(R"json(
    {"ph":"X","cat":"kernel","name":"k","ts":9000000000000000000,"dur":500000000000000},
    {"ph":"X","cat":"kernel","name":"lost","ts":9223372036854775807,"dur":1},
    {"ph":"X","cat":"kernel","name":"lost","ts":8000000000000000,"dur":1})json");
  ASSERT_EQ(late.device_ops.size(), 1U);
  EXPECT_EQ(late.device_ops[0].end_ns, 9'000'500'000'000'000'000);
}

TEST(Kineto, FormsOfTheDocument) {
  const std::string kernel = R"json({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1})json";
  EXPECT_EQ(read("[" + kernel + "]").device_ops.size(), 1U);
  EXPECT_EQ(read("[" + kernel + ",\n" + kernel + "\n").device_ops.size(), 2U);  // Chrome allows it
  EXPECT_EQ(read("\xEF\xBB\xBF " + with_events(kernel)).device_ops.size(), 1U);
  EXPECT_EQ(read(with_events(kernel + ",")).device_ops.size(), 1U);
  EXPECT_EQ(read(with_events("")).device_ops.size(), 0U);
  EXPECT_EQ(
      read(R"json({"a":{"traceEvents":[1]},"b":"]}\"","c":[[{}]],"d":null,"traceEvents":[)json" +
           kernel + "]}")
          .device_ops.size(),
      1U);
}

TEST(Kineto, MembersInAnyOrderAndAnyValues) {
  const Timeline timeline = read_events(R"json(
    {"args":{"grid":[1,1,1],"queued":0,"occupancy":nan,"stream":7,"deep":{"a":[{"b":"}"}]},
      "correlation":3},"dur":2,"ts":1,"tid":7,"pid":0,
     "name":"a\\b \"q\" \u00e9","cat":"kernel","ph":"X"},
    {"name":"C:\Users\x","ph":"X","cat":"kernel","ts":9,"dur":1,"args":"none"})json");
  ASSERT_EQ(timeline.device_ops.size(), 2U);
  EXPECT_EQ(timeline.name_of(timeline.device_ops[0].name), "a\\b \"q\" \xC3\xA9");
  EXPECT_EQ(timeline.device_ops[0].correlation, 3);
  EXPECT_EQ(timeline.name_of(timeline.device_ops[1].name), "C:\\Users\\x");
}

TEST(Kineto, ThreadsThatAreTextAreToldApart) {
  const Timeline timeline = read_events(R"json(
    {"ph":"X","cat":"cuda_runtime","name":"a","pid":"x","tid":"main","ts":1,"dur":1},
    {"ph":"X","cat":"cuda_runtime","name":"b","pid":"x","tid":"other","ts":2,"dur":1},
    {"ph":"X","cat":"cuda_runtime","name":"c","pid":"x","tid":"main","ts":3,"dur":1})json");
  ASSERT_EQ(timeline.host_calls.size(), 3U);
  EXPECT_EQ(timeline.host_calls[0].thread, timeline.host_calls[2].thread);
  EXPECT_NE(timeline.host_calls[0].thread, timeline.host_calls[1].thread);
}

TEST(Kineto, LongNamesAreCutBetweenCharacters) {
  std::string name(4095, 'x');
  name += "\xC3\xA9tail";
  const Timeline timeline =
      read_events(R"json({"ph":"X","cat":"kernel","ts":1,"dur":1,"name":")json" + name + "\"}");
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.name_of(timeline.device_ops[0].name), std::string(4095, 'x'));
}

}  // namespace
}  // namespace unstarve::observe
