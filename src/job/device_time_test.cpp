#include "job/device_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace unstarve::job {
namespace {

using trace::DeviceOpKind;
using trace::Interval;

trace::DeviceOp op(DeviceOpKind kind, std::int64_t start_ns, std::int64_t end_ns) {
  trace::DeviceOp made;
  made.kind = kind;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  return made;
}

/// The same, each nanosecond by itself.
DeviceTime painted(const std::vector<trace::DeviceOp>& ops, const std::vector<Interval>& spans) {
  DeviceTime time;
  for (const Interval& span : spans) {
    for (std::int64_t at = span.start_ns; at < span.end_ns; ++at) {
      bool computes = false;
      bool communicates = false;
      bool copies = false;
      for (const trace::DeviceOp& operation : ops) {
        if (at < operation.start_ns || at >= operation.end_ns) continue;
        computes |= is_compute(operation.kind);
        communicates |= operation.kind == DeviceOpKind::kCommunication;
        copies |= operation.kind == DeviceOpKind::kCopy;
      }
      time.compute_ns += computes ? 1 : 0;
      time.exposed_communication_ns += communicates && !computes ? 1 : 0;
      time.exposed_copy_ns += copies && !computes && !communicates ? 1 : 0;
      time.communication_ns += communicates ? 1 : 0;
      time.copy_ns += copies ? 1 : 0;
    }
  }
  return time;
}

void expect_same(const DeviceTime& swept, const DeviceTime& expected) {
  EXPECT_EQ(swept.compute_ns, expected.compute_ns);
  EXPECT_EQ(swept.exposed_communication_ns, expected.exposed_communication_ns);
  EXPECT_EQ(swept.exposed_copy_ns, expected.exposed_copy_ns);
  EXPECT_EQ(swept.communication_ns, expected.communication_ns);
  EXPECT_EQ(swept.copy_ns, expected.copy_ns);
}

TEST(DeviceTimeSweep, CountsOnlyWhatLiesInItsSpans) {
  DeviceTimeSweep sweep({{0, 10}, {20, 30}});
  sweep.add(op(DeviceOpKind::kCompute, 5, 25));
  sweep.add(op(DeviceOpKind::kCopy, 8, 30));
  EXPECT_EQ(sweep.time().compute_ns, 5 + 5);
  EXPECT_EQ(sweep.time().exposed_copy_ns, 5);
  EXPECT_EQ(sweep.time().copy_ns, 2 + 10);
}

TEST(DeviceTimeSweep, AgreesWithAPainterOverAnySpans) {
  constexpr std::array<DeviceOpKind, 4> kKinds = {DeviceOpKind::kCompute, DeviceOpKind::kMemset,
                                                  DeviceOpKind::kCommunication,
                                                  DeviceOpKind::kCopy};
  std::mt19937 random(7);
  const auto below = [&random](std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> spans;
    for (std::int64_t at = below(20); at < 200; at += 1 + below(30)) {
      spans.push_back({at, at + 1 + below(40)});
      at = spans.back().end_ns;
    }
    if (spans.empty()) continue;
    std::vector<trace::DeviceOp> ops;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t start_ns = below(220);
      const auto kind = kKinds[static_cast<std::size_t>(below(4))];
      ops.push_back(op(kind, start_ns, start_ns + below(90)));
    }
    std::stable_sort(ops.begin(), ops.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    DeviceTimeSweep sweep(spans);
    for (const trace::DeviceOp& operation : ops) sweep.add(operation);
    expect_same(sweep.time(), painted(ops, spans));
  }
}

}  // namespace
}  // namespace unstarve::job
