#include "diagnose/signals/run_signals.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/testing/test_folder.h"
#include "trace/run_writer.h"

namespace unstarve::diagnose {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

/// A run in whose seconds the job read so many bytes from storage.
HostSignals signals_of(const std::vector<double>& bytes_per_s, const trace::Interval& when) {
  TestFolder folder;
  const std::string dir = folder.path() + "/run";
  auto writer = trace::RunWriter::create(dir, {}, {});
  EXPECT_TRUE(writer) << writer.error().message;
  trace::MetricRow metric;
  metric.name = "job.storage_read_bytes_per_s";
  metric.subject = "job";
  const std::int64_t id = (*writer)->add_metric(metric);
  std::int64_t t_ns = 0;
  for (const double rate : bytes_per_s)
    (*writer)->add(trace::SampleRow{t_ns += kSecondNs, id, rate});
  EXPECT_TRUE((*writer)->finish(t_ns, 0));
  const auto run = trace::RunReader::open(dir);
  EXPECT_TRUE(run) << run.error().message;
  return read_host_signals(*run, when);
}

// Imports and the first touch of a data set come from storage; what is judged comes later.
TEST(RunSignals, WhatWasReadBeforeTheTimeThatIsJudgedDoesNotCount) {
  const std::vector<double> rates = {90e6, 90e6, 50e6, 2.0, 4.0};
  const HostSignals behind = signals_of(rates, {5 * kSecondNs / 2, 5 * kSecondNs});
  ASSERT_TRUE(behind.storage_bytes_per_s) << "a sample of the third second lies in both";
  EXPECT_DOUBLE_EQ(*behind.storage_bytes_per_s, 3.0);
  EXPECT_FALSE(signals_of(rates, {9 * kSecondNs / 2, 5 * kSecondNs}).storage_bytes_per_s)
      << "no whole second lies in it";
}

/// A run with these metrics, a sample each second.
HostSignals signals_of(
    const std::map<std::pair<std::string, std::string>, std::vector<double>>& all,
    const trace::Interval& when) {
  TestFolder folder;
  const std::string dir = folder.path() + "/run";
  auto writer = trace::RunWriter::create(dir, {}, {});
  EXPECT_TRUE(writer) << writer.error().message;
  for (const auto& [name, values] : all) {
    trace::MetricRow metric;
    std::tie(metric.name, metric.subject) = name;
    const std::int64_t id = (*writer)->add_metric(metric);
    std::int64_t t_ns = 0;
    for (const double value : values)
      (*writer)->add(trace::SampleRow{t_ns += kSecondNs, id, value});
  }
  EXPECT_TRUE((*writer)->finish(10 * kSecondNs, 0));
  const auto run = trace::RunReader::open(dir);
  EXPECT_TRUE(run) << run.error().message;
  return read_host_signals(*run, when);
}

TEST(RunSignals, MemoryIsTheContainersWhereThatHasLess) {
  const HostSignals host = signals_of({{{"host.memory_available_bytes", "host"}, {60e9, 50e9}},
                                       {{"host.memory_total_bytes", "host"}, {64e9, 64e9}},
                                       {{"cgroup.memory_limit_bytes", "cgroup"}, {8e9, 8e9}},
                                       {{"cgroup.memory_used_bytes", "cgroup"}, {5e9, 7.9e9}},
                                       {{"cgroup.page_cache_bytes", "cgroup"}, {1e9, 1e9}}},
                                      {0, 5 * kSecondNs});
  EXPECT_DOUBLE_EQ(*host.memory_total_bytes, 8e9);
  EXPECT_NEAR(*host.memory_available_bytes, 1.1e9, 1) << "at its peak";
  const HostSignals machine = signals_of({{{"host.memory_available_bytes", "host"}, {60e9, 50e9}},
                                          {{"host.memory_total_bytes", "host"}, {64e9, 64e9}}},
                                         {0, 5 * kSecondNs});
  EXPECT_DOUBLE_EQ(*machine.memory_available_bytes, 50e9);
}

TEST(RunSignals, OfACountWhatCameBeforeIsNoPart) {
  const HostSignals host =
      signals_of({{{"job.fetch_looks_on_cpu", "job"}, {40, 50}}}, {3 * kSecondNs, 5 * kSecondNs});
  EXPECT_DOUBLE_EQ(host.fetch_looks_on_cpu.value_or(0), 0);
}

}  // namespace
}  // namespace unstarve::diagnose
