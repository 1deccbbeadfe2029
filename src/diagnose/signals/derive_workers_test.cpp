#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::diagnose {
namespace {

using test::kMs;
using test::starving_run;
using trace::Timeline;

constexpr std::int64_t kTrainer = 7;

void make_iterator(std::int64_t made_ns, bool persistent, Timeline& timeline) {
  trace::LoaderConfig config;
  config.process = kTrainer;
  config.made_ns = made_ns;
  config.id = 0;
  config.num_workers = 2;
  config.persistent_workers = persistent;
  timeline.loaders.push_back(config);
}

/// Of one loader, whose first wait after each `epoch_ms` is `first_wait_ms`. A batch takes 20 ms.
Timeline epochs(bool persistent, std::int64_t first_wait_ms) {
  Timeline timeline = starving_run(31, 10, 0);
  timeline.run_id = "r1";
  for (trace::LoaderWait& wait : timeline.loader_waits) wait.loader_id = 0;
  make_iterator(-50 * kMs, persistent, timeline);
  for (const std::int64_t step : {10, 20}) {
    trace::LoaderWait& first = timeline.loader_waits[static_cast<std::size_t>(step)];
    make_iterator(first.when.start_ns - 5 * kMs, persistent, timeline);
    first.when.end_ns = first.when.start_ns + first_wait_ms * kMs;
  }
  for (std::int64_t i = 0; i < 31; ++i) {
    trace::Fetch fetch;
    fetch.when = {i * 100 * kMs, i * 100 * kMs + 20 * kMs};
    fetch.loader_id = 0;
    timeline.fetches.push_back(fetch);
  }
  return timeline;
}

bool blames_start(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings) {
    for (const std::string& reason : finding.reasons) {
      if (reason == "loader_startup") return true;
    }
  }
  return false;
}

TEST(WorkerSignals, TimeTheStartsThatWereSeenBehindTheWarmUp) {
  const Diagnosis found = diagnose(epochs(false, 90), {});
  EXPECT_EQ(found.signals.loader_starts.value_or(-1), 2) << "the first lies in the warm-up";
  EXPECT_NEAR(*found.signals.loader_start_ns, (5 + 90 - 20) * kMs, 1);
  const double waited_ms = 28 * 10 + 2 * 90;
  EXPECT_NEAR(*found.signals.startup_wait_ratio, 2 * 75 / waited_ms, 1e-9);
  EXPECT_TRUE(blames_start(found));
}

TEST(WorkerSignals, WaitingForWorkersToBeForkedIsWaiting) {
  Timeline timeline = epochs(false, 90);
  for (trace::LoaderConfig& config : timeline.loaders) {
    config.ready_ns = config.made_ns + 5 * kMs;
    config.thread = timeline.loader_waits.front().thread;
  }
  const Signals found = diagnose(timeline, {}).signals;
  EXPECT_NEAR(*found.loader_start_ns, (5 + 90 - 20) * kMs, 1);
  const double waited_ms = 28 * 10 + 2 * (90 + 5);
  EXPECT_NEAR(*found.startup_wait_ratio, 2 * 75 / waited_ms, 1e-9);
}

/// The same; the wait before each start finds no batch left, and ends the workers.
Timeline epochs_with_ends(bool persistent, std::int64_t ending_ms) {
  Timeline timeline = epochs(persistent, 90);
  for (const std::int64_t step : {9, 19}) {
    trace::LoaderWait& last = timeline.loader_waits[static_cast<std::size_t>(step)];
    last.ended = true;
    last.when.end_ns = last.when.start_ns + ending_ms * kMs;
  }
  return timeline;
}

TEST(WorkerSignals, EndingTheWorkersCountsToo) {
  const Signals found = diagnose(epochs_with_ends(false, 40), {}).signals;
  EXPECT_NEAR(*found.loader_end_ns, 40 * kMs, 1);
  const double waited_ms = 26 * 10 + 2 * 40 + 2 * 90;
  EXPECT_NEAR(*found.startup_wait_ratio, 2 * (75 + 40) / waited_ms, 1e-9);
}

TEST(WorkerSignals, PersistentWorkersDoNotEnd) {
  const Signals found = diagnose(epochs_with_ends(true, 40), {}).signals;
  EXPECT_FALSE(found.loader_end_ns);
  EXPECT_EQ(found.startup_wait_ratio.value_or(-1), 0);
}

TEST(WorkerSignals, PersistentWorkersStartOnce) {
  const Diagnosis found = diagnose(epochs(true, 90), {});
  EXPECT_EQ(found.signals.loader_starts.value_or(-1), 0);
  EXPECT_EQ(found.signals.startup_wait_ratio.value_or(-1), 0);
  EXPECT_FALSE(blames_start(found));
}

// Two workers hand over their batches together: every second wait is long, and none is a start.
TEST(WorkerSignals, LockstepIsNoStart) {
  Timeline timeline = epochs(false, 10);
  timeline.loaders.resize(1);
  for (std::size_t i = 1; i < timeline.loader_waits.size(); ++i) {
    timeline.loader_waits[i].when.end_ns += (i % 2 == 0 ? 80 : -9) * kMs;
  }
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(found.signals.loader_starts.value_or(-1), 0);
  EXPECT_FALSE(blames_start(found));
}

TEST(WorkerSignals, ARecordingThatDoesNotSayWhenAbstains) {
  Timeline timeline = epochs(false, 90);
  for (trace::LoaderConfig& config : timeline.loaders) config.made_ns = 0;
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_FALSE(found.signals.loader_starts);
  EXPECT_FALSE(blames_start(found));
}

TEST(WorkerSignals, BusyIsTheShareOfTheirTimeInFetches) {
  const Diagnosis found = diagnose(epochs(false, 10), {});
  EXPECT_NEAR(*found.signals.worker_busy_ratio, 0.2 / 2, 1e-9);
}

}  // namespace
}  // namespace unstarve::diagnose
