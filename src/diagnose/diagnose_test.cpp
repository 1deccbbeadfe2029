#include "diagnose/diagnose.h"

#include <gtest/gtest.h>

#include "diagnose/leading.h"
#include "diagnose/rules/all_rules.h"
#include "diagnose/rules/remedies.h"
#include "diagnose/verdict.h"

namespace unstarve::diagnose {
namespace {

using trace::Timeline;

constexpr std::int64_t kMs = 1'000'000;

// Steps of 100 ms that begin with a wait; a kernel runs for the last `busy_ms` of each.
Timeline make_run(std::int64_t steps, std::int64_t wait_ms, std::int64_t busy_ms) {
  Timeline timeline;
  timeline.input = trace::InputKind::kRun;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t start = i * 100 * kMs;
    trace::Step step;
    step.when = {start, start + 100 * kMs};
    step.thread = 7;
    step.process = 7;
    timeline.steps.push_back(step);
    trace::LoaderWait wait;
    // The first step is a warm-up that must not count.
    wait.when = {start, start + (i == 0 ? 99 : wait_ms) * kMs};
    wait.thread = 7;
    wait.process = 7;
    timeline.loader_waits.push_back(wait);
    if (busy_ms == 0) continue;
    trace::DeviceOp op;
    op.start_ns = step.when.end_ns - busy_ms * kMs;
    op.end_ns = step.when.end_ns;
    op.correlation = i;
    timeline.device_ops.push_back(op);
    trace::HostCall call;
    call.start_ns = op.start_ns - 10'000;
    call.end_ns = op.start_ns - 5'000;
    call.correlation = i;
    call.kind = trace::HostCallKind::kLaunch;
    call.thread = 7;
    call.process = 7;
    timeline.host_calls.push_back(call);
  }
  return timeline;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Finding finding_of(const std::string& cause, double share) {
  Finding finding;
  finding.cause = cause;
  finding.share = share;
  return finding;
}

TEST(Leading, IsWhatHasAReasonWhereThatMatters) {
  Diagnosis diagnosis;
  diagnosis.steps.count = 10;
  diagnosis.partition = Partition{.launch = 0.12, .other = 0.3};
  diagnosis.edge_other_ratio = 0.2;
  diagnosis.findings = {finding_of("other", 0.3), finding_of("launch", 0.12)};
  EXPECT_EQ(leading_finding(diagnosis)->cause, "launch");
  const std::string verdict = write_verdict(diagnosis);
  EXPECT_TRUE(contains(verdict, "idle 12 % of the time because the host launches")) << verdict;
  EXPECT_TRUE(contains(verdict, "For 30 % of the time it is idle for a reason that")) << verdict;
  EXPECT_TRUE(contains(verdict, "20 % before the first or after the last GPU operation"));

  diagnosis.findings = {finding_of("other", 0.3), finding_of("launch", 0.02)};
  EXPECT_EQ(leading_finding(diagnosis)->cause, "other");
  EXPECT_EQ(leading_finding(Diagnosis()), nullptr);
}

TEST(Diagnose, ARecordingThatEndsEarlySaysSo) {
  Timeline timeline = make_run(11, 0, 90);
  timeline.device_ops.resize(7);  // the first step is warm-up: six of ten have GPU work
  const Diagnosis found = diagnose(timeline, {}, {});
  EXPECT_NEAR(found.edge_other_ratio, 0.4, 1e-9);
  EXPECT_NEAR((*found.partition).other, 0.4, 1e-9);
}

// A finding that has a detail says it in the sentence that most people read alone.
TEST(Verdict, HasWordsForEveryDetail) {
  for (const Rule& rule : all_rules()) {
    if (rule.kind != RuleKind::kDetail) continue;
    Diagnosis diagnosis;
    diagnosis.partition = Partition();
    diagnosis.steps.count = 10;
    Finding finding;
    finding.cause = std::string(rule.cause);
    finding.detail = std::string(rule.name);
    finding.share = 0.5;
    diagnosis.findings.push_back(finding);
    EXPECT_TRUE(contains(write_verdict(diagnosis), ", mostly because of ")) << rule.name;
  }
}

TEST(Diagnose, ALiveRunLeavesItsFirstStepOut) {
  const Diagnosis found = diagnose(make_run(5, 60, 40), {}, {.run_id = "r1", .loader_place = ""});
  EXPECT_EQ(found.steps.count, 4);
  EXPECT_EQ(found.run_id, "r1");
  ASSERT_TRUE(found.partition);
  EXPECT_NEAR((*found.partition).input_wait, 0.6, 1e-9);
  EXPECT_NEAR(found.devices.at(0).gpu_busy_ratio, 0.4, 1e-9);
}

TEST(Diagnose, WithoutDeviceRecordsTheHostSpeaksAloneAndSaysSo) {
  const Diagnosis found =
      diagnose(make_run(5, 60, 0), {}, {.run_id = "", .loader_place = "train.py:41"});
  EXPECT_FALSE(found.partition);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].cause, "input_wait");
  EXPECT_NEAR(found.findings[0].share, 0.6, 1e-9);
  EXPECT_EQ(found.findings[0].confidence, Confidence::kAmbiguous);
  EXPECT_TRUE(contains(found.verdict, "No GPU activity is recorded")) << found.verdict;
  EXPECT_TRUE(contains(found.verdict, "up to 60 %")) << found.verdict;
  EXPECT_TRUE(contains(found.verdict, "train.py:41")) << found.verdict;
}

TEST(Diagnose, AnEmptyTimelineHasAReasonAndNoFindings) {
  const Diagnosis found = diagnose(Timeline{}, {}, {});
  EXPECT_FALSE(found.partition);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_FALSE(found.abstentions.empty());
  EXPECT_TRUE(contains(found.verdict, "No GPU activity is recorded")) << found.verdict;
}

TEST(Diagnose, TheVerdictSaysEmulatedAndWhere) {
  Timeline timeline = make_run(5, 60, 40);
  trace::DeviceInfo device;
  device.name = "A100";
  device.emulated = true;
  timeline.devices.push_back(device);
  const Diagnosis found = diagnose(timeline, {}, {.run_id = "", .loader_place = "train.py:41"});
  EXPECT_TRUE(contains(found.verdict, "The emulated GPU is idle")) << found.verdict;
  EXPECT_TRUE(contains(found.verdict, "train.py:41")) << found.verdict;
}

TEST(Diagnose, AFolderOfImagesCanBePackedAndIsNamedOnlyForAClearGain) {
  const Timeline timeline = make_run(5, 60, 40);
  Diagnosis found =
      diagnose(timeline, {}, {.run_id = "", .loader_place = "", .image_folder = "/i"});
  attach_predictions(found,
                     {{"unstarve_loader", {2.0, 1.9, 2.1}}, {"unstarve_shards", {2.05, 2.0, 2.1}}});
  EXPECT_TRUE(contains(found.verdict, "mport DataLoader from unstarve")) << found.verdict;
  attach_predictions(found,
                     {{"unstarve_loader", {2.0, 1.9, 2.1}}, {"unstarve_shards", {2.4, 2.3, 2.5}}});
  EXPECT_TRUE(contains(found.verdict, "unstarve pack /i /i-shards")) << found.verdict;
}

TEST(Diagnose, AFolderOfImagesIsOneWordOfTheCommandThatIsAdvised) {
  Signals signals;
  signals.image_folder = "/my data/it's";
  EXPECT_TRUE(contains(native_loading(signals).back().how,
                       R"(unstarve pack '/my data/it'\''s' '/my data/it'\''s-shards'`)"))
      << native_loading(signals).back().how;
}

TEST(Diagnose, ACacheIsAdvisedBetweenLoaderAndShards) {
  Signals signals;
  EXPECT_EQ(native_loading(signals).size(), 1U) << "nobody knows what data it is";
  signals.image_folder = "/i";
  std::vector<Remedy> advised = native_loading(signals);
  ASSERT_EQ(advised.size(), 3U);
  EXPECT_EQ(advised[1].id, "unstarve_cache");
  EXPECT_TRUE(contains(advised[1].how, "With that loader: set UNSTARVE_CACHE_DIR"));
  EXPECT_TRUE(contains(advised[1].how, "from the second on"));
  signals.loader_threads = 2;  // it is unstarve's
  advised = native_loading(signals);
  ASSERT_EQ(advised.size(), 2U);
  EXPECT_TRUE(contains(advised[0].how, "Unless the loader has a cache already: set"));
}

TEST(Diagnose, WithoutStepsTheVerdictSaysSo) {
  Timeline timeline = make_run(5, 60, 40);
  timeline.steps.clear();
  const Diagnosis found = diagnose(timeline, {}, {});
  EXPECT_EQ(found.findings.at(0).confidence, Confidence::kAmbiguous);
  EXPECT_TRUE(contains(found.verdict, "no step boundary is recorded")) << found.verdict;
}

TEST(Diagnose, WithoutWaitsInputWaitAbstains) {
  Timeline timeline = make_run(5, 60, 40);
  timeline.loader_waits.clear();
  const Diagnosis found = diagnose(timeline, {}, {});
  EXPECT_EQ(found.findings.at(0).cause, "launch");
  bool abstains = false;
  for (const Abstention& silent : found.abstentions) {
    abstains |= silent.rule == "input_wait" && silent.signal == "wait_ratio";
  }
  EXPECT_TRUE(abstains);
}

TEST(Diagnose, SignalsOfTheMonitorNeedEnoughSamples) {
  HostSignals host;
  host.gpu_utilisation = {0.9, 0.1, 0.9};
  EXPECT_FALSE(derive_signals_of(Timeline{}, host).gpu_utilisation_mean);
  host.gpu_utilisation = {0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1};
  const Signals signals = derive_signals_of(Timeline{}, host);
  EXPECT_NEAR(*signals.gpu_utilisation_mean, 0.5, 1e-9);
  EXPECT_NEAR(*signals.gpu_utilisation_deviation, 0.4, 1e-9);
  EXPECT_NEAR(*signals.gpu_utilisation_swings_ratio, 0.5, 1e-9);
}

TEST(Diagnose, PermissionsAreNamedInAbstentions) {
  HostSignals host;
  host.effective_cpus = WhyAbsent::kNoPermission;
  host.job_cpu_cores = 1.0;
  const Signals signals = derive_signals_of(Timeline{}, host);
  ASSERT_FALSE(signals.cpu_use_ratio);
  EXPECT_EQ(signals.cpu_use_ratio.why_absent(), WhyAbsent::kNoPermission);
}

}  // namespace
}  // namespace unstarve::diagnose
