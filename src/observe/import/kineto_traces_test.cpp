// The real traces against what an independent analysis found in them.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <string>

#include "observe/import/kineto.h"

namespace unstarve::observe {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;
using trace::Timeline;

std::string trace_folder() { return std::string(UNSTARVE_SOURCE_DIR) + "/tests/data/traces/"; }

/// First step to last step, or without steps the device's first to last operation.
trace::Interval span_of(const Timeline& timeline) {
  trace::Interval span;
  bool first = true;
  const auto widen = [&](std::int64_t start, std::int64_t end) {
    span.start_ns = first ? start : std::min(span.start_ns, start);
    span.end_ns = first ? end : std::max(span.end_ns, end);
    first = false;
  };
  for (const auto& step : timeline.steps) widen(step.when.start_ns, step.when.end_ns);
  if (!first) return span;
  for (const auto& op : timeline.device_ops) widen(op.start_ns, op.end_ns);
  return span;
}

struct Counts {
  std::int64_t kernels = 0;
  std::int64_t h2d_count = 0;
  std::int64_t h2d_bytes = 0;
  std::int64_t h2d_pageable = 0;
  std::int64_t without_launch = 0;
};

Counts count(const Timeline& timeline) {
  const trace::Interval span = span_of(timeline);
  std::vector<std::int64_t> launched;
  for (const auto& call : timeline.host_calls) launched.push_back(call.correlation);
  std::sort(launched.begin(), launched.end());
  Counts counts;
  for (const auto& op : timeline.device_ops) {
    if (op.end_ns <= span.start_ns || op.start_ns >= span.end_ns) continue;
    if (!std::binary_search(launched.begin(), launched.end(), op.correlation)) {
      ++counts.without_launch;
    }
    if (op.kind == DeviceOpKind::kCompute || op.kind == DeviceOpKind::kCommunication) {
      ++counts.kernels;
    }
    if (op.direction != CopyDirection::kHostToDevice) continue;
    ++counts.h2d_count;
    counts.h2d_bytes += op.bytes;
    if (op.source == trace::MemoryKind::kPageable) ++counts.h2d_pageable;
  }
  return counts;
}

std::int64_t integer(const simdjson::dom::element& element, const char* pointer) {
  return element.at_pointer(pointer).get_int64().value();
}

void compare(const Timeline& timeline, const simdjson::dom::element& expected) {
  const double span_us = static_cast<double>(span_of(timeline).duration_ns()) / 1e3;
  // The other analysis reads times as double, which today's date leaves a quarter microsecond.
  EXPECT_NEAR(span_us, expected["span_us"].get_double().value(), 0.3);
  EXPECT_EQ(timeline.steps.size(), static_cast<std::size_t>(integer(expected, "/steps/count")));
  EXPECT_EQ(timeline.events_lost, 0);
  std::int64_t kernels = 0;
  if (expected["kernels"].get(kernels) != simdjson::SUCCESS) {
    EXPECT_TRUE(timeline.device_ops.empty());  // the trace without a GPU
    return;
  }
  const Counts counts = count(timeline);
  EXPECT_EQ(counts.kernels, kernels);
  EXPECT_EQ(counts.h2d_count, integer(expected, "/copies/h2d_count"));
  EXPECT_EQ(counts.h2d_bytes, integer(expected, "/copies/h2d_bytes"));
  EXPECT_EQ(counts.without_launch, integer(expected, "/gpu_ops_without_launch"));
  double pageable = 0;
  const auto ratio = expected.at_pointer("/copies/h2d_pageable_ratio_by_count");
  if (ratio.get(pageable) == simdjson::SUCCESS) {
    EXPECT_NEAR(static_cast<double>(counts.h2d_pageable) / static_cast<double>(counts.h2d_count),
                pageable, 0.001);
  }
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_EQ(std::to_string(timeline.devices[0].index), expected["device"].get_string().value());
}

TEST(KinetoTraces, AgreeWithAnIndependentAnalysis) {
  simdjson::dom::parser parser;
  const simdjson::dom::element all = parser.load(trace_folder() + "expected.json").value();
  int traces = 0;
  const simdjson::dom::object object = all.get_object();
  for (const auto [file, expected] : object) {
    const std::string name(file);
    SCOPED_TRACE(name);
    const auto timeline = import_kineto(trace_folder() + name);
    ASSERT_TRUE(timeline) << timeline.error().message;
    compare(*timeline, expected);
    ++traces;
  }
  EXPECT_EQ(traces, 10);
}

TEST(KinetoTraces, LoaderWaitsAreOnTheTrainingThread) {
  const auto timeline =
      import_kineto(trace_folder() + "resnet50_num_workers_0_worker0.1623143089861.json.gz");
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->loader_waits.size(), 6U);
  for (const auto& wait : timeline->loader_waits) {
    EXPECT_EQ(wait.thread, 25738);
    EXPECT_EQ(wait.process, 25738);
    EXPECT_GT(wait.when.duration_ns(), 60'000'000);
    EXPECT_LT(wait.when.duration_ns(), 75'000'000);
  }
  EXPECT_EQ(timeline->devices[0].name, "Tesla V100-DGXS-32GB");
  EXPECT_EQ(timeline->devices[0].multiprocessors.value_or(0), 80);
  EXPECT_EQ(timeline->devices[0].compute_capability.value_or(0), 7.0);
}

TEST(KinetoTraces, CommunicationKernelsAreToldApart) {
  const auto timeline = import_kineto(trace_folder() + "nccl_parser_config_nccl_data.json.gz");
  ASSERT_TRUE(timeline) << timeline.error().message;
  const auto communicates = [](const trace::DeviceOp& op) {
    return op.kind == DeviceOpKind::kCommunication;
  };
  EXPECT_GT(std::count_if(timeline->device_ops.begin(), timeline->device_ops.end(), communicates),
            10);
}

TEST(KinetoTraces, ResultDoesNotDependOnTheWindow) {
  const std::string path = trace_folder() + "nccl_parser_config_nccl_data.json.gz";
  const auto usual = import_kineto(path);
  ImportOptions options;
  options.window_bytes = 300;  // smaller than most events, so that the window has to grow
  const auto narrow = import_kineto(path, options);
  ASSERT_TRUE(usual && narrow);
  ASSERT_EQ(usual->device_ops.size(), narrow->device_ops.size());
  ASSERT_EQ(usual->host_calls.size(), narrow->host_calls.size());
  for (std::size_t i = 0; i < usual->device_ops.size(); ++i) {
    EXPECT_EQ(usual->device_ops[i].start_ns, narrow->device_ops[i].start_ns);
    EXPECT_EQ(usual->device_ops[i].correlation, narrow->device_ops[i].correlation);
  }
}

}  // namespace
}  // namespace unstarve::observe
