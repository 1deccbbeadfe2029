#include <gtest/gtest.h>

#include "diagnose/findings.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {
namespace {

/// Of a host that is blocked for 30 % of the time; afterwards the GPU idles for 6 %, and for 20 %
/// more because the next launches come too late.
Signals reading_back() {
  Signals signals;
  signals.gpu_compute_ratio = 0.7;
  signals.sync_ratio = 0.06;
  signals.launch_ratio = 0.2;
  signals.long_launch_gap_ratio = 0.1;
  signals.blocked_ratio = 0.3;
  signals.syncs_per_step = 50;
  signals.kernel_ns_median = 13e3;
  signals.launches_per_step = 600;
  signals.step_count = 100;
  return signals;
}

/// Of two workers that leave the training thread no CPU for a quarter of the time, a half of that
/// in which it works.
Signals crowded_by_workers() {
  Signals signals;
  signals.gpu_compute_ratio = 0.1;
  signals.input_wait_ratio = 0.3;
  signals.launch_ratio = 0.5;
  signals.long_launch_gap_ratio = 0.6;
  signals.wait_ratio = 0.4;
  signals.blocked_ratio = 0.1;
  signals.num_workers = 2;
  signals.worker_busy_ratio = 0.9;
  signals.fetch_cpu_ratio = 0.8;
  signals.effective_cpus = 2;
  signals.job_cpu_cores = 1.95;
  signals.neighbour_cores = 0.05;
  signals.training_cpu_wait_ratio = 0.25;
  signals.step_count = 100;
  return signals;
}

std::string first_cause(Signals signals) {
  derive_consequences(signals);
  Diagnosis diagnosis;
  conclude(signals, diagnosis);
  return diagnosis.findings.empty() ? "" : diagnosis.findings.front().cause;
}

TEST(Consequences, AHostThatIsBlockedWouldHaveGoneAhead) {
  Signals signals = reading_back();
  derive_consequences(signals);
  EXPECT_NEAR(*signals.launch_after_sync_ratio, 0.2 * 0.9, 1e-9) << "all of the short gaps";
  EXPECT_EQ(first_cause(reading_back()), "sync");
}

TEST(Consequences, NoLongerThanItIsBlocked) {
  Signals signals = reading_back();
  signals.blocked_ratio = 0.1;
  derive_consequences(signals);
  EXPECT_NEAR(*signals.launch_after_sync_ratio, 0.1 - 0.06, 1e-9);
  EXPECT_EQ(first_cause(signals), "launch");
}

TEST(Consequences, WithoutWaitsForTheDeviceLaunchesAreLateByThemselves) {
  Signals signals = reading_back();
  signals.sync_ratio = 0.001;
  derive_consequences(signals);
  EXPECT_FALSE(signals.launch_after_sync_ratio);
  EXPECT_EQ(first_cause(signals), "launch");
}

TEST(Consequences, WorkersThatHaveTheCpusAreLoading) {
  Signals signals = crowded_by_workers();
  derive_consequences(signals);
  EXPECT_NEAR(*signals.launch_beside_loading_ratio, 0.5 * 0.25 / 0.5, 1e-9);
  EXPECT_EQ(first_cause(crowded_by_workers()), "input_wait");
}

TEST(Consequences, WhatOthersTakeOfTheCpusIsNotLoading) {
  Signals signals = crowded_by_workers();
  signals.neighbour_cores = 1;
  signals.job_cpu_cores = 0.9;
  derive_consequences(signals);
  EXPECT_FALSE(signals.launch_beside_loading_ratio);
  Signals idle_workers = crowded_by_workers();
  idle_workers.worker_busy_ratio = 0.1;
  derive_consequences(idle_workers);
  EXPECT_FALSE(idle_workers.launch_beside_loading_ratio);
  EXPECT_EQ(first_cause(idle_workers), "launch");
}

TEST(Consequences, WhatIsCountedElsewhereIsNotCountedTwice) {
  Signals signals = crowded_by_workers();
  derive_consequences(signals);
  Diagnosis diagnosis;
  conclude(signals, diagnosis);
  double sum = 0;
  for (const Finding& finding : diagnosis.findings) sum += finding.share;
  EXPECT_NEAR(sum, 0.3 + 0.5, 1e-9);
}

}  // namespace
}  // namespace unstarve::diagnose
