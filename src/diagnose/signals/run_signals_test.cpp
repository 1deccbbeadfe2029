#include "diagnose/signals/run_signals.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace unstarve::diagnose
