// Ten real PyTorch profiler traces against what an independent analysis found in them
// (tests/data/traces/expected.json; the README there names their sources).

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "advise/advice.h"
#include "diagnose/diagnose.h"
#include "observe/import/kineto.h"

namespace unstarve {
namespace {

using Json = nlohmann::json;

std::string trace_folder() { return std::string(UNSTARVE_SOURCE_DIR) + "/tests/data/traces/"; }

double share(const diagnose::Partition& partition, const std::string& cause) {
  if (cause == "gpu_compute") return partition.gpu_compute;
  if (cause == "exposed_communication") return partition.exposed_communication;
  if (cause == "exposed_copy") return partition.exposed_copy;
  if (cause == "input_wait") return partition.input_wait;
  if (cause == "sync") return partition.sync;
  if (cause == "launch") return partition.launch;
  if (cause == "kernel_wait") return partition.kernel_wait;
  EXPECT_EQ(cause, "other");
  return partition.other;
}

// The other analysis rounds to three digits. Gap causes may differ by what "long" means.
double tolerance(const std::string& cause) {
  const bool busy = cause == "gpu_compute" || cause.rfind("exposed_", 0) == 0;
  return busy ? 0.001 : 0.005;
}

bool contains(const Json& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void compare(const diagnose::Diagnosis& found, const Json& expected) {
  if (expected["partition"].is_null()) {
    EXPECT_FALSE(found.partition);
    EXPECT_TRUE(found.findings.empty());
    const std::string verdict = advise::advise(found, {}, {}).verdict;
    EXPECT_NE(verdict.find("No GPU activity is recorded"), std::string::npos);
    return;
  }
  ASSERT_TRUE(found.partition);
  ASSERT_FALSE(found.devices.empty());
  // The other analysis gives work that the recording holds no record of to `other`.
  diagnose::Partition recorded = *found.partition;
  recorded.gpu_compute -= found.devices[0].edge_busy_ratio;
  recorded.other += found.devices[0].edge_busy_ratio;
  for (const auto& [cause, range] : expected["range"].items()) {
    const double value = share(recorded, cause);
    EXPECT_GE(value, range[0].get<double>() - tolerance(cause)) << cause;
    EXPECT_LE(value, range[1].get<double>() + tolerance(cause)) << cause;
  }
  ASSERT_FALSE(found.findings.empty());
  EXPECT_TRUE(contains(expected["accept"], found.findings[0].cause)) << found.findings[0].cause;
  const bool clear = found.findings[0].confidence == diagnose::Confidence::kClear;
  EXPECT_EQ(clear, expected["confidence"] == "clear");
  if (clear) {
    EXPECT_EQ(found.findings[0].cause, expected["top_cause"]);
  }
}

void compare_counts(const diagnose::Diagnosis& found, const Json& expected) {
  EXPECT_EQ(found.steps.count, expected["steps"]["count"].get<int>());
  if (!expected["steps"]["median_us"].is_null()) {
    EXPECT_NEAR(*found.steps.median_us, expected["steps"]["median_us"].get<double>(), 0.5);
    EXPECT_NEAR(*found.steps.mean_us, expected["steps"]["mean_us"].get<double>(), 0.5);
  }
  if (expected["partition"].is_null()) return;
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_NEAR(found.devices[0].span_us, expected["span_us"].get<double>(), 0.5);
  EXPECT_NEAR(found.devices[0].gpu_busy_ratio - found.devices[0].edge_busy_ratio,
              expected["gpu_busy_ratio"].get<double>(), 0.001);
  const Json& copies = expected["copies"];
  EXPECT_EQ(found.copies.h2d_count, copies["h2d_count"].get<int>());
  EXPECT_EQ(found.copies.h2d_bytes, copies["h2d_bytes"].get<std::int64_t>());
  const Json& pageable = copies["h2d_pageable_ratio_by_bytes"];
  ASSERT_EQ(found.copies.pageable_ratio.has_value(), !pageable.is_null());
  if (!pageable.is_null()) {
    EXPECT_NEAR(*found.copies.pageable_ratio, pageable.get<double>(), 0.001);
  }
}

TEST(RealTraces, AgreeWithAnIndependentAnalysis) {
  std::ifstream file(trace_folder() + "expected.json");
  const Json all = Json::parse(file);
  ASSERT_EQ(all.size(), 10U);
  for (const auto& [name, expected] : all.items()) {
    SCOPED_TRACE(name);
    const auto timeline = observe::import_kineto(trace_folder() + name);
    ASSERT_TRUE(timeline) << timeline.error().message;
    const auto found = diagnose::diagnose(*timeline, {});
    compare(found, expected);
    compare_counts(found, expected);
  }
}

}  // namespace
}  // namespace unstarve
