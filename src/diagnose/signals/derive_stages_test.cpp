#include <gtest/gtest.h>

#include "base/units.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {
namespace {

using trace::LoaderStage;

class StageSignals : public testing::Test {
 protected:
  StageSignals() {
    timeline_.input = trace::InputKind::kRun;
    trace::LoaderConfig loader;
    loader.num_workers = 4;
    loader.native = true;
    timeline_.loaders.push_back(loader);
    for (std::int64_t index = 0; index < 4; ++index) {
      trace::Step step;
      step.when = {index * kSecondNs, (index + 1) * kSecondNs};
      step.index = index;
      timeline_.steps.push_back(step);
    }
  }

  void add(LoaderStage stage, trace::Interval when, double spent_s, std::int64_t threads) {
    trace::StageTime time;
    time.when = when;
    time.stage = stage;
    time.spent_ns = static_cast<std::int64_t>(spent_s * static_cast<double>(kSecondNs));
    time.threads = threads;
    timeline_.stages.push_back(time);
  }
  Signals derive() const {
    const job::JobView job(timeline_);
    return derive_signals({PartitionedJob(job), host_});
  }

  trace::Timeline timeline_;
  HostSignals host_;
};

TEST_F(StageSignals, AreSharesOfTheThreadsTimeInTheWindow) {
  // The first step is warm-up; half of this stretch lies in it.
  add(LoaderStage::kRead, {0, 2 * kSecondNs}, 0.4, 2);
  add(LoaderStage::kDecode, {0, 2 * kSecondNs}, 2.0, 2);
  add(LoaderStage::kTransform, {0, 2 * kSecondNs}, 0.8, 2);
  add(LoaderStage::kLoad, {0, 2 * kSecondNs}, 4.0, 2);
  add(LoaderStage::kOnCpu, {0, 2 * kSecondNs}, 3.0, 2);
  add(LoaderStage::kDecode, {2 * kSecondNs, 3 * kSecondNs}, 2.0, 4);
  add(LoaderStage::kLoad, {2 * kSecondNs, 3 * kSecondNs}, 2.0, 4);
  add(LoaderStage::kOnCpu, {2 * kSecondNs, 3 * kSecondNs}, 1.5, 4);
  add(LoaderStage::kRoom, {2 * kSecondNs, 3 * kSecondNs}, 1.0, 4);
  const Signals signals = derive();
  EXPECT_DOUBLE_EQ(*signals.loader_threads, 3);
  EXPECT_DOUBLE_EQ(*signals.read_ratio, 0.2 / 3.6);
  EXPECT_DOUBLE_EQ(*signals.decode_ratio, 3.0 / 3.6);
  EXPECT_DOUBLE_EQ(*signals.transform_ratio, 0.4 / 3.6);
  EXPECT_DOUBLE_EQ(*signals.fetch_cpu_ratio, 0.75);
  EXPECT_DOUBLE_EQ(*signals.threads_idle_ratio, 0.2);
  EXPECT_DOUBLE_EQ(*signals.collate_ratio, 0);
  EXPECT_FALSE(signals.num_workers) << "threads are no workers";
}

TEST_F(StageSignals, AreAbsentWhereNothingOfItIsRecorded) {
  const Signals signals = derive();
  EXPECT_DOUBLE_EQ(*signals.loader_threads, 4) << "as the loader began";
  EXPECT_FALSE(signals.decode_ratio);
  EXPECT_FALSE(signals.threads_idle_ratio);
}

TEST_F(StageSignals, OfALoaderBesideTheJobsFirstDoNotCount) {
  timeline_.loaders.front().native = false;
  add(LoaderStage::kDecode, {kSecondNs, 2 * kSecondNs}, 1.0, 2);
  add(LoaderStage::kLoad, {kSecondNs, 2 * kSecondNs}, 1.0, 2);
  const Signals signals = derive();
  EXPECT_FALSE(signals.loader_threads);
  EXPECT_FALSE(signals.decode_ratio);
  EXPECT_DOUBLE_EQ(*signals.num_workers, 4);
}

}  // namespace
}  // namespace unstarve::diagnose
