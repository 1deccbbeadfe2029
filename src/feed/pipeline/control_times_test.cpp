// What several consumers are told, and what a controller is told late.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "feed/pipeline/control/consumer_times.h"
#include "feed/pipeline/control/live_control.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/order/submitted_order.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/window/batch_window.h"

namespace unstarve::feed {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(ConsumerTimes, OneConsumerIsBusyFromABatchToTheNextQuestion) {
  ConsumerTimes times;
  times.ask(100);
  EXPECT_EQ(times.sums().busy_ns, 0);
  times.answer(200, 4);
  times.ask(250);
  times.answer(300, 0);  // nothing came in time
  times.ask(400);
  times.answer(400, 3);
  times.ask(440);
  EXPECT_EQ(times.sums().busy_ns, 50 + 40);
  EXPECT_EQ(times.sums().images, 7U);
}

TEST(ConsumerTimes, SeveralAreBusyWhileNoneAsks) {
  ConsumerTimes times;
  times.ask(0);
  times.ask(0);
  times.answer(10, 4);  // the other still asks
  times.answer(30, 4);
  times.ask(70);
  times.ask(90);
  EXPECT_EQ(times.sums().busy_ns, 40);
  EXPECT_EQ(times.sums().images, 4U);
}

TEST(BatchWindow, TheWaitsOfSeveralConsumersAreCountedOnce) {
  ManualClock clock(1'000 * kSecondNs);  // a machine that is up for long
  const EpochPosition start;
  BatchWindow window({std::make_unique<SubmittedOrder>(8, start), start, 2, 2,
                      BatchPool::create({4, 8, 8}, 4, std::make_shared<PageableMemory>()), clock});
  std::vector<std::jthread> consumers;
  for (int consumer = 1; consumer <= 2; ++consumer) {
    consumers.emplace_back([&window] { (void)window.next(60s); });
    while (window.waits().consumers < consumer) std::this_thread::yield();
    clock.advance_ns(kSecondNs);
  }
  EXPECT_EQ(window.waits().next_blocked_ns, 2 * kSecondNs) << "of waits that still last";
  ASSERT_TRUE(window.finish_submitting());
  consumers.clear();
  EXPECT_EQ(window.waits().next_blocked_ns, 2 * kSecondNs);
  EXPECT_EQ(window.waits().consumers, 0);
}

/// A consumer that waits all the time, over one second.
ControlTotals totals_after(std::int64_t seconds) {
  ControlTotals totals;
  totals.consumer_wait_ns = seconds * kSecondNs;
  totals.consumer_busy_ns = seconds * kSecondNs / 100;
  totals.consumer_images = static_cast<std::uint64_t>(seconds) * 10;
  totals.loaded_images = totals.consumer_images;
  totals.load_ns = seconds * kSecondNs;
  totals.load_cpu_ns = totals.load_ns;
  return totals;
}

TEST(LiveControl, SumsThatComeLateAreNotNegative) {
  Controller::Settings settings;
  settings.first_threads = 2;
  LiveControl control(
      settings, [] { return 64; }, 0);
  (void)control.step(totals_after(1), kSecondNs);
  // Taken before those above, told after them.
  EXPECT_FALSE(control.step(totals_after(0), kSecondNs + 1));
  ControlTotals mixed = totals_after(2);
  mixed.loaded_images = 3;  // one sum that was read too early
  mixed.consumer_images = 3;
  const auto targets = control.step(mixed, 2 * kSecondNs);
  for (const ControlMove& move : control.moves()) {
    EXPECT_LE(move.to, 64) << move.reason;
    EXPECT_EQ(move.reason.find("18446744073"), std::string::npos) << move.reason;
    EXPECT_EQ(move.reason.find("184467440737"), std::string::npos) << move.reason;
  }
  (void)targets;
}

TEST(LiveControl, TheLatestSumsAreDecidedOn) {
  Controller::Settings settings;
  LiveControl control(
      settings, [] { return 4; }, 0);
  std::stop_source stop;
  control.post({totals_after(1), 1});
  control.post({totals_after(2), 2});
  EXPECT_FALSE(control.settled());
  const auto sample = control.take(stop.get_token());
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->now_ns, 2);
  EXPECT_FALSE(control.settled()) << "it is being decided on";
  stop.request_stop();
  EXPECT_FALSE(control.take(stop.get_token()));
  EXPECT_TRUE(control.settled());
}

/// Says in which threads the number of CPUs was asked for.
TEST(LoaderControlThread, TheTrainingThreadAsksForNoCpusAndStartsNoThreads) {
  const test::JpegFolder folder;
  LoaderOptions options = folder.options();
  options.threads = 0;
  LoaderParts parts = LoaderParts::real();
  const auto clock = std::make_shared<ManualClock>(1);
  parts.clock = clock;
  const std::thread::id trainer = std::this_thread::get_id();
  std::atomic<bool> begun{false};
  std::atomic<int> asked{0};
  std::atomic<int> asked_by_trainer{0};
  parts.cpus = [&] {
    if (begun) ++asked;
    if (begun && std::this_thread::get_id() == trainer) ++asked_by_trainer;
    return 2;
  };
  auto loader = *Loader::open(options, parts);
  ASSERT_TRUE(loader->begin_epoch(0));
  begun = true;
  // Nothing passes by but the consumer: all batches ahead are ready.
  while (loader->stats().images < 16) std::this_thread::yield();
  for (int windows = 0; windows < 30; ++windows) {
    clock->advance_ns(300'000'000);
    if (windows % 10 == 0) {
      ASSERT_TRUE(loader->next(60s));
    } else {
      (void)loader->next(0ns);
    }
    while (loader->stats().control_is_due) std::this_thread::yield();
  }
  EXPECT_GT(asked, 0);
  EXPECT_EQ(asked_by_trainer, 0);
}

TEST(LoaderConsumersStress, TheWaitOfSeveralIsNeverLongerThanTheClock) {
  const test::JpegFolder folder;
  LoaderOptions options = folder.options();
  options.threads = 0;
  options.prefetch_batches = 0;
  options.prefetch_next_epoch = true;
  LoaderParts parts = LoaderParts::real();
  const auto clock = std::make_shared<ManualClock>(1'000 * kSecondNs);
  parts.clock = clock;
  std::atomic<int> cpus{1};
  parts.cpus = [&cpus] { return 1 + cpus++ % 4; };
  auto loader = *Loader::open(options, parts);
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    ASSERT_TRUE(loader->begin_epoch(epoch));
    std::atomic<int> batches{0};
    {
      std::vector<std::jthread> consumers;
      for (int consumer = 0; consumer < 3; ++consumer) {
        consumers.emplace_back([&] {
          for (;;) {
            clock->advance_ns(20'000'000);
            const Result<NextBatch> next = loader->next(60s);
            ASSERT_TRUE(next) << next.error().message;
            if (next->state != NextState::kBatch) return;
            ++batches;
          }
        });
      }
    }
    EXPECT_EQ(batches, 6);
    EXPECT_LE(loader->stats().consumer_wait_ns, clock->now_ns() - 1'000 * kSecondNs);
    EXPECT_GE(loader->stats().consumer_wait_ns, 0);
  }
}

}  // namespace
}  // namespace unstarve::feed
