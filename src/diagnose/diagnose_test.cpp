#include "diagnose/diagnose.h"

#include <gtest/gtest.h>

#include "diagnose/findings.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::diagnose {
namespace {

using test::starving_run;
using trace::Timeline;

TEST(Diagnose, ARecordingThatEndsEarlySaysSo) {
  Timeline timeline = starving_run(11, 0, 90);
  timeline.device_ops.resize(7);  // the first step is warm-up: six of ten have GPU work
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_NEAR(found.edge_other_ratio, 0.4, 1e-9);
  EXPECT_NEAR((*found.partition).other, 0.4, 1e-9);
}

TEST(Diagnose, ALiveRunLeavesItsFirstStepOut) {
  Timeline timeline = starving_run(5, 60, 40);
  timeline.run_id = "r1";
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(found.steps.count, 4);
  EXPECT_EQ(found.run_id, "r1");
  ASSERT_TRUE(found.partition);
  EXPECT_NEAR((*found.partition).input_wait, 0.6, 1e-9);
  EXPECT_NEAR(found.devices.at(0).gpu_busy_ratio, 0.4, 1e-9);
}

TEST(Diagnose, WithoutDeviceRecordsTheHostSpeaksAloneAndSaysSo) {
  const Diagnosis found = diagnose(starving_run(5, 60, 0), {});
  EXPECT_FALSE(found.partition);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, "input_wait");
  EXPECT_NEAR(found.findings[0].share, 0.6, 1e-9);
  EXPECT_EQ(found.findings[0].confidence, Confidence::kAmbiguous);
}

// What the hook alone sees: waits, and calls that block until the device has caught up.
TEST(Diagnose, WithoutDeviceRecordsTheThreadsTimeIsSplit) {
  Timeline timeline = starving_run(5, 60, 0);
  for (const trace::Step& step : timeline.steps) {
    trace::HostCall call;
    call.kind = trace::HostCallKind::kSync;
    call.process = call.thread = 7;
    call.start_ns = step.when.start_ns + 50 * test::kMs;  // 10 ms of it inside the loader
    call.end_ns = step.when.start_ns + 90 * test::kMs;
    timeline.host_calls.push_back(call);
  }
  const ThreadTime time = *diagnose(timeline, {}).thread_time;
  EXPECT_NEAR(time.input_wait, 0.6, 1e-9);
  EXPECT_NEAR(*time.sync, 0.3, 1e-9);
  EXPECT_NEAR(time.own_work, 0.1, 1e-9);

  timeline.host_calls.clear();
  EXPECT_FALSE((*diagnose(timeline, {}).thread_time).sync) << "none was seen: not 0";
  timeline.loader_waits.clear();
  EXPECT_FALSE(diagnose(timeline, {}).thread_time);
}

TEST(Diagnose, ARateComesFromStepsThatSayTheirSamples) {
  Timeline timeline = starving_run(5, 60, 0);
  EXPECT_FALSE(diagnose(timeline, {}).steps.samples_per_s);
  for (trace::Step& step : timeline.steps) step.samples = 8;
  EXPECT_NEAR(*diagnose(timeline, {}).steps.samples_per_s, 80, 1e-9);
}

TEST(Diagnose, OnTheCpuNoGpuIsMissing) {
  Timeline timeline = starving_run(5, 60, 0);
  timeline.training_devices = {{.process = 8, .kind = "cuda"}, {.process = 7, .kind = "cpu"}};
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(found.signals.trains_on_host.value_or(-1), 1);
  EXPECT_EQ(found.findings.at(0).confidence, Confidence::kClear);
  timeline.training_devices[1].kind = "mps";
  EXPECT_EQ(diagnose(timeline, {}).findings.at(0).confidence, Confidence::kAmbiguous);
}

/// One operation of 1.5 us somewhere in the recording.
void add_one_operation(Timeline& timeline, std::int64_t at_ns) {
  trace::DeviceOp op;
  op.start_ns = at_ns;
  op.end_ns = at_ns + 1'500;
  op.kind = trace::DeviceOpKind::kMemset;
  timeline.device_ops.push_back(op);
}

/// What a job is told by without what was recorded of its GPU.
void expect_as_with_none(const Timeline& timeline, job::AsideReason reason) {
  const Diagnosis found = diagnose(timeline, {});
  ASSERT_TRUE(found.set_aside);
  EXPECT_EQ(found.set_aside->reason, reason);
  EXPECT_EQ(found.set_aside->operations, 1);
  EXPECT_EQ(found.set_aside->busy_ns, 1'500);
  EXPECT_FALSE(found.partition);
  EXPECT_TRUE(found.devices.empty());
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, "input_wait");
  EXPECT_NEAR(found.findings[0].share, 0.6, 1e-9);
  EXPECT_EQ(found.findings[0].confidence, Confidence::kClear);
}

TEST(Diagnose, OneOperationDoesNotHideThatTheModelIsOnTheCpu) {
  Timeline timeline = starving_run(11, 60, 0);
  timeline.training_devices = {{.process = 7, .kind = "cpu"}};
  add_one_operation(timeline, 500 * test::kMs);
  expect_as_with_none(timeline, job::AsideReason::kTrainsOnHost);
  timeline.training_devices[0].kind = "cuda";
  EXPECT_TRUE(diagnose(timeline, {}).partition) << "the records of its work are missing";
  timeline = starving_run(11, 60, 40);
  timeline.training_devices = {{.process = 7, .kind = "cpu"}};
  EXPECT_TRUE(diagnose(timeline, {}).partition) << "the GPU does much of the work";
}

TEST(Diagnose, AGpuWithLessThanOneOperationAStepTakesNoPart) {
  Timeline timeline = starving_run(11, 60, 0);
  timeline.input = trace::InputKind::kKineto;
  add_one_operation(timeline, 500 * test::kMs);
  timeline.loader_waits.front().when.end_ns = 60 * test::kMs;
  expect_as_with_none(timeline, job::AsideReason::kHardlyUsed);
  timeline.events_lost = 1;
  EXPECT_TRUE(diagnose(timeline, {}).partition) << "those of the others may be lost";
}

TEST(Diagnose, AFewOperationsWithoutStepsAreTooLittle) {
  Timeline timeline;
  add_one_operation(timeline, 5 * test::kMs);
  Diagnosis found = diagnose(timeline, {});
  EXPECT_FALSE(found.partition);
  EXPECT_TRUE(found.findings.empty());
  ASSERT_TRUE(found.set_aside);
  EXPECT_EQ(found.set_aside->reason, job::AsideReason::kTooLittle);
  for (int i = 1; i < 30; ++i) add_one_operation(timeline, (5 + i) * test::kMs);
  EXPECT_TRUE(diagnose(timeline, {}).partition);
  trace::HostCall call;
  call.end_ns = 10'000 * test::kMs;
  timeline.host_calls.push_back(call);
  found = diagnose(timeline, {});
  ASSERT_TRUE(found.set_aside) << "30 ms of 10 s";
  EXPECT_EQ(found.set_aside->operations, 30);
  EXPECT_EQ(found.set_aside->of_ns, 10'000 * test::kMs);
}

TEST(Diagnose, AnEmptyTimelineHasAReasonAndNoFindings) {
  const Diagnosis found = diagnose(Timeline{}, {});
  EXPECT_FALSE(found.partition);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_FALSE(found.abstentions.empty());
}

TEST(Diagnose, WithoutStepsItIsAmbiguous) {
  Timeline timeline = starving_run(20, 60, 40);
  timeline.steps.clear();
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(found.findings.at(0).confidence, Confidence::kAmbiguous);
}

TEST(Diagnose, WithoutWaitsInputWaitAbstains) {
  Timeline timeline = starving_run(5, 60, 40);
  timeline.loader_waits.clear();
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(found.findings.at(0).cause, "launch");
  bool abstains = false;
  for (const Abstention& silent : found.abstentions) {
    abstains |= silent.rule == "input_wait" && silent.signal == "wait_ratio";
  }
  EXPECT_TRUE(abstains);
}

/// Of a loader whose batches are almost nothing but collated, and whose workers start in each
/// epoch.
std::string reason_beside_starts(double startup_wait_ratio) {
  Signals signals;
  signals.input_wait_ratio = 0.36;
  signals.wait_ratio = 0.43;
  signals.num_workers = 2;
  signals.collate_ratio = 0.95;
  signals.ready_wait_ratio = 0.3;
  signals.loader_starts = 29;
  signals.startup_wait_ratio = startup_wait_ratio;
  Diagnosis diagnosis;
  conclude(signals, diagnosis);
  return diagnosis.findings.empty() ? "" : diagnosis.findings.front().detail;
}

TEST(Diagnose, HowABatchIsMadeExplainsOnlyTheWaitingThatIsNotForWorkersToStart) {
  EXPECT_EQ(reason_beside_starts(0.55), "loader_startup");
  EXPECT_EQ(reason_beside_starts(0.3), "collate_ipc");
  EXPECT_EQ(reason_beside_starts(0.1), "collate_ipc");
}

TEST(Diagnose, SignalsOfTheMonitorNeedEnoughSamples) {
  HostSignals host;
  host.gpu_utilisation = {0.9, 0.1, 0.9};
  EXPECT_FALSE(diagnose(Timeline{}, host).signals.gpu_utilisation_mean);
  host.gpu_utilisation = {0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1};
  const Signals signals = diagnose(Timeline{}, host).signals;
  EXPECT_NEAR(*signals.gpu_utilisation_mean, 0.5, 1e-9);
  EXPECT_NEAR(*signals.gpu_utilisation_deviation, 0.4, 1e-9);
  EXPECT_NEAR(*signals.gpu_utilisation_swings_ratio, 0.5, 1e-9);
}

TEST(Diagnose, PermissionsAreNamedInAbstentions) {
  HostSignals host;
  host.effective_cpus = WhyAbsent::kNoPermission;
  host.job_cpu_cores = 1.0;
  const Signals signals = diagnose(Timeline{}, host).signals;
  ASSERT_FALSE(signals.cpu_use_ratio);
  EXPECT_EQ(signals.cpu_use_ratio.why_absent(), WhyAbsent::kNoPermission);
}

/// Steps of 10 ms, of which the host waits 7 ms for the device; calls are seen while the device is
/// recorded: in so many steps.
Timeline waits_seen_in(std::int64_t recorded_steps) {
  constexpr std::int64_t kMs = 1'000'000;
  Timeline timeline;
  for (std::int64_t i = 0; i < 200; ++i) {
    trace::Step step;
    step.when = {i * 10 * kMs, (i + 1) * 10 * kMs};
    step.index = i;
    step.process = step.thread = 1;
    timeline.steps.push_back(step);
    const bool is_recorded = recorded_steps == 200 || (i >= 20 && i < 20 + recorded_steps);
    if (!is_recorded) continue;
    trace::HostCall call;
    call.start_ns = step.when.start_ns + 2 * kMs;
    call.end_ns = call.start_ns + 7 * kMs;
    call.kind = trace::HostCallKind::kSync;
    call.process = call.thread = 1;
    timeline.host_calls.push_back(call);
    trace::DeviceOp op;
    op.start_ns = call.start_ns;
    op.end_ns = call.end_ns;
    timeline.device_ops.push_back(op);
  }
  trace::RecordedWindow window;
  window.when = {200 * kMs, (20 + recorded_steps) * 10 * kMs};
  window.process = 1;
  if (recorded_steps < 200) timeline.windows.push_back(window);
  return timeline;
}

TEST(Diagnose, WaitsForTheDeviceAreTheSameHoweverLongItWasRecorded) {
  const double all = diagnose(waits_seen_in(200), {}).signals.blocked_ratio.value_or(0);
  EXPECT_NEAR(all, 0.7, 0.02);
  for (const std::int64_t steps : {10, 40, 150}) {
    const Signals signals = diagnose(waits_seen_in(steps), {}).signals;
    EXPECT_NEAR(signals.blocked_ratio.value_or(0), all, 0.01) << steps;
  }
}

}  // namespace
}  // namespace unstarve::diagnose
