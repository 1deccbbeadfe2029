#include "diagnose/partition/partition.h"
#include "diagnose/partition/whole_span.h"

#include <gtest/gtest.h>

#include <numeric>

namespace unstarve::diagnose {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;
using trace::HostCallKind;
using trace::Timeline;

constexpr std::int64_t kUs = 1000;

// Times are in microseconds; the training thread is thread 1 of process 1.
class Builder {
 public:
  Builder& step(std::int64_t start, std::int64_t end, std::int64_t process = 1) {
    trace::Step step;
    step.when = {start * kUs, end * kUs};
    step.index = static_cast<std::int64_t>(timeline_.steps.size());
    step.thread = process;
    step.process = process;
    timeline_.steps.push_back(step);
    return *this;
  }
  Builder& live() {
    timeline_.input = trace::InputKind::kRun;
    return *this;
  }
  Builder& wait(std::int64_t start, std::int64_t end, std::int64_t thread = 1) {
    trace::LoaderWait wait;
    wait.when = {start * kUs, end * kUs};
    wait.thread = thread;
    wait.process = 1;
    timeline_.loader_waits.push_back(wait);
    return *this;
  }
  Builder& call(std::int64_t start, std::int64_t end, HostCallKind kind, std::int64_t thread = 1,
                std::int64_t correlation = trace::kNoCorrelation) {
    trace::HostCall call;
    call.start_ns = start * kUs;
    call.end_ns = end * kUs;
    call.kind = kind;
    call.thread = thread;
    call.process = process_;
    call.correlation = correlation;
    timeline_.host_calls.push_back(call);
    return *this;
  }
  Builder& op(std::int64_t start, std::int64_t end, DeviceOpKind kind = DeviceOpKind::kCompute,
              std::int32_t device = 0) {
    trace::DeviceOp op;
    op.start_ns = start * kUs;
    op.end_ns = end * kUs;
    op.kind = kind;
    op.device = device;
    timeline_.device_ops.push_back(op);
    return *this;
  }
  // An operation together with its launch call.
  Builder& launched(std::int64_t call_start, std::int64_t call_end, std::int64_t start,
                    std::int64_t end, DeviceOpKind kind = DeviceOpKind::kCompute) {
    const std::int64_t correlation = ++correlation_;
    call(call_start, call_end, HostCallKind::kLaunch, 1, correlation);
    op(start, end, kind);
    timeline_.device_ops.back().correlation = correlation;
    return *this;
  }
  Builder& host_work(std::int64_t start, std::int64_t end,
                     trace::HostWorkKind kind = trace::HostWorkKind::kCollection) {
    timeline_.host_work.push_back({{start * kUs, end * kUs}, 1, 1, kind});
    return *this;
  }
  Builder& window(std::int64_t start, std::int64_t end) {
    trace::RecordedWindow window;
    window.when = {start * kUs, end * kUs};
    window.process = 1;
    timeline_.windows.push_back(window);
    return *this;
  }
  Builder& calls_of_process(std::int64_t process) {
    process_ = process;
    return *this;
  }
  Timeline build() {
    sort_by_start(timeline_);
    return timeline_;
  }

 private:
  Timeline timeline_;
  std::int64_t correlation_ = 0;
  std::int64_t process_ = 1;
};

DevicePartition only(const Timeline& timeline, const PartitionOptions& options = {}) {
  const std::vector<DevicePartition> all = partition_devices(job::JobView(timeline), options);
  EXPECT_EQ(all.size(), 1U);
  const DevicePartition& partition = all.front();
  EXPECT_EQ(std::accumulate(partition.ns.begin(), partition.ns.end(), std::int64_t{0}),
            partition.recorded_ns);
  return partition;
}

std::int64_t us(const DevicePartition& partition, Cause cause) { return partition.of(cause) / kUs; }

TEST(Partition, GivesBusyTimeByPriorityOverStreams) {
  const auto p = only(Builder()
                          .step(0, 100)
                          .op(0, 40, DeviceOpKind::kCopy)
                          .op(10, 70, DeviceOpKind::kCommunication)
                          .op(20, 30, DeviceOpKind::kCompute)
                          .op(60, 90, DeviceOpKind::kMemset)
                          .op(95, 95, DeviceOpKind::kCompute)
                          .build());
  EXPECT_EQ(us(p, Cause::kGpuCompute), 40);
  EXPECT_EQ(us(p, Cause::kExposedCommunication), 40);
  EXPECT_EQ(us(p, Cause::kExposedCopy), 10);
  EXPECT_EQ(us(p, Cause::kOther), 10);
  EXPECT_EQ(p.time.busy_ns(), 90 * kUs);
}

TEST(Partition, ClipsOperationsToTheSpanOfTheSteps) {
  const auto p = only(Builder().step(100, 200).op(50, 120).op(150, 900).op(950, 990).build());
  EXPECT_EQ(p.span.duration_ns(), 100 * kUs);
  EXPECT_EQ(us(p, Cause::kGpuCompute), 70);
  EXPECT_EQ(p.gaps, 1);
  EXPECT_EQ(p.ops_without_launch, 2);
}

TEST(Partition, WithoutStepsTheSpanIsThatOfTheOperations) {
  const auto p = only(Builder().launched(0, 2, 10, 20).launched(40, 42, 50, 60).build());
  EXPECT_EQ(p.span.duration_ns(), 50 * kUs);
  EXPECT_EQ(us(p, Cause::kLaunch), 30);
}

TEST(Partition, TheLoadersPartOfAGapIsInputWaitAndTheRestFollowsTheLaunch) {
  const auto p = only(Builder().step(0, 100).wait(0, 30).launched(50, 52, 55, 100).build());
  EXPECT_EQ(us(p, Cause::kInputWait), 30);
  EXPECT_EQ(us(p, Cause::kLaunch), 25);
}

TEST(Partition, AWaitOfAnotherThreadDoesNotCount) {
  const auto p = only(Builder().step(0, 100).wait(0, 30, 7).launched(50, 52, 55, 100).build());
  EXPECT_EQ(us(p, Cause::kInputWait), 0);
  EXPECT_EQ(us(p, Cause::kLaunch), 55);
}

TEST(Partition, AGapAfterABlockingCallIsSync) {
  const auto p = only(Builder()
                          .step(0, 100)
                          .launched(0, 1, 1, 40)
                          .call(5, 45, HostCallKind::kSync)
                          .launched(60, 62, 65, 100)
                          .build());
  EXPECT_EQ(us(p, Cause::kSync), 25);
  EXPECT_EQ(us(p, Cause::kLaunch), 1);
}

TEST(Partition, ACopyThatComesBackAfterItsEndIsABlockingCall) {
  const auto p = only(Builder()
                          .step(0, 100)
                          .launched(0, 1, 1, 40)
                          .launched(5, 45, 40, 42, DeviceOpKind::kCopy)
                          .launched(60, 62, 65, 100)
                          .build());
  EXPECT_EQ(us(p, Cause::kSync), 23);
}

TEST(Partition, ABlockingCallOfAnUnrelatedThreadIsNotSync) {
  const auto p = only(Builder()
                          .step(0, 100)
                          .launched(0, 1, 1, 40)
                          .call(5, 45, HostCallKind::kSync, 9)
                          .launched(60, 62, 65, 100)
                          .build());
  EXPECT_EQ(us(p, Cause::kSync), 0);
  EXPECT_EQ(us(p, Cause::kLaunch), 26);
}

TEST(Partition, WorkLaunchedInTimeWaitsShortlyOrForAnUnknownReason) {
  const auto p = only(Builder()
                          .step(0, 1000)
                          .launched(0, 1, 0, 100)
                          .launched(2, 3, 140, 200)   // 40 us: kernel_wait
                          .launched(4, 5, 300, 1000)  // 100 us: other
                          .build());
  EXPECT_EQ(us(p, Cause::kKernelWait), 40);
  EXPECT_EQ(us(p, Cause::kOther), 100);
}

TEST(Partition, TimeLongAfterTheLaunchReturnedIsOther) {
  const auto p =
      only(Builder().step(0, 1000).launched(0, 1, 0, 100).launched(150, 160, 500, 1000).build());
  EXPECT_EQ(us(p, Cause::kLaunch), 60);
  EXPECT_EQ(us(p, Cause::kOther), 340);
}

TEST(Partition, AFirstCopyThatWaitsForItsStreamMakesTheHeadBusy) {
  Builder head;
  head.step(0, 5000).launched(1000, 4000, 3000, 5000, DeviceOpKind::kCopy);
  EXPECT_EQ(us(only(head.build()), Cause::kGpuCompute), 3000);
  EXPECT_EQ(only(head.build()).edge_busy_ns, 3000 * kUs);

  Builder later;  // the stream's earlier work is recorded, so nothing is hidden
  later.launched(-20, -19, -15, -10);
  later.step(0, 5000).launched(1000, 4000, 3000, 5000, DeviceOpKind::kCopy);
  EXPECT_EQ(us(only(later.build()), Cause::kLaunch), 3000);
}

TEST(Partition, ATailIsSyncWhileTheHostIsBlocked) {
  const auto p = only(Builder()
                          .step(0, 100)
                          .launched(0, 1, 0, 40)
                          .call(30, 60, HostCallKind::kSync)
                          .call(80, 130, HostCallKind::kSync)
                          .build());
  EXPECT_EQ(us(p, Cause::kSync), 40);
  EXPECT_EQ(us(p, Cause::kOther), 20);
  EXPECT_EQ(p.gaps, 1);
}

TEST(Partition, ALaunchThatWasNotRecordedIsOther) {
  const auto p = only(Builder().step(0, 100).op(60, 100).build());
  EXPECT_EQ(us(p, Cause::kOther), 60);
  EXPECT_EQ(p.ops, 1);
  EXPECT_EQ(p.ops_without_launch, 1);
}

TEST(Partition, StepsOfAnotherProcessIdStillGiveTheSpan) {
  const auto p =
      only(Builder().calls_of_process(5).launched(10, 12, 15, 20).step(0, 100, 1).build());
  EXPECT_EQ(p.span.duration_ns(), 100 * kUs);
}

TEST(Partition, LeavesTheWarmUpStepOutWhenAnotherRemains) {
  Builder two;
  two.live().step(0, 100).step(100, 150).op(0, 50).op(100, 140);
  EXPECT_EQ(only(two.build()).span.duration_ns(), 50 * kUs);
  Builder single;
  single.live().step(0, 100).op(0, 50);
  EXPECT_EQ(only(single.build()).span.duration_ns(), 100 * kUs);
}

TEST(Partition, TheWorstDeviceComputesLeastAndTheLowestWinsATie) {
  const Timeline timeline = Builder()
                                .step(0, 100)
                                .op(0, 90, DeviceOpKind::kCompute, 0)
                                .op(0, 30, DeviceOpKind::kCompute, 1)
                                .op(50, 80, DeviceOpKind::kCompute, 2)
                                .build();
  const auto all = partition_devices(job::JobView(timeline), {});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[worst_device(all)].device, 1);
}

TEST(Partition, ADeviceThatDoesNextToNothingIsNotTheWorst) {
  const Timeline timeline = Builder()
                                .step(0, 100)
                                .op(0, 90, DeviceOpKind::kCompute, 0)
                                .op(50, 51, DeviceOpKind::kCompute, 1)
                                .build();
  const auto all = partition_devices(job::JobView(timeline), {});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[worst_device(all)].device, 0);
}

TEST(Partition, WorkOnSeveralStreamsCountsOnce) {
  // The host works for 60 of each 100, the device for 20: more than it hides of two steps' work.
  const auto with_streams = [](int streams) {
    Builder builder;
    constexpr std::int64_t kThousand = 1000;
    for (std::int64_t at = 0; at < 2000 * kThousand; at += 100 * kThousand) {
      builder.step(at, at + 100 * kThousand);
      for (int i = 0; i < streams; ++i) builder.launched(at, at + 10, at + 20, at + 20 * kThousand);
      builder.call(at + 20, at + 20 * kThousand, HostCallKind::kSync);
    }
    return only(builder.build());
  };
  const DevicePartition single = with_streams(1);
  const DevicePartition two = with_streams(2);
  for (std::size_t cause = 0; cause < kCauseCount; ++cause) {
    EXPECT_EQ(single.of(static_cast<Cause>(cause)), two.of(static_cast<Cause>(cause))) << cause;
  }
}

TEST(PartitionWindows, OnlyRecordedTimeIsGivenToCauses) {
  const auto p = only(Builder()
                          .step(0, 1000)
                          .step(1000, 2000)
                          .wait(0, 500)
                          .wait(1000, 1500)
                          .launched(500, 510, 510, 1000)  // its record came, its window did not
                          .launched(1500, 1510, 1510, 2000)
                          .window(900, 1990)
                          .build());
  EXPECT_EQ(p.recorded_ns, 1090 * kUs);
  EXPECT_EQ(us(p, Cause::kGpuCompute), 100 + 480);
  EXPECT_EQ(us(p, Cause::kInputWait), 500);
  EXPECT_EQ(us(p, Cause::kLaunch), 10);
  EXPECT_EQ(p.edge_busy_ns, 0);
}

TEST(PartitionWindows, AnOperationThatRunsThroughSeveralWindowsCountsInEach) {
  const auto p = only(Builder()
                          .step(0, 1000)
                          .launched(0, 1, 1, 1000)
                          .window(0, 100)
                          .window(200, 300)
                          .window(250, 400)
                          .build());
  EXPECT_EQ(p.recorded_ns, 300 * kUs);
  EXPECT_EQ(us(p, Cause::kGpuCompute), 299);
}

TEST(PartitionWindows, AQueueFromBeforeTheWindowKeepsTheDeviceBusy) {
  const auto p = only(Builder()
                          .step(0, 10'000)
                          .wait(0, 2'000)
                          .launched(2'000, 2'010, 6'000, 10'000)
                          .window(0, 10'000)
                          .build());
  EXPECT_EQ(us(p, Cause::kGpuCompute), 10'000);
  EXPECT_EQ(p.edge_busy_ns, 6'000 * kUs);
}

TEST(PartitionWindows, AQueueThatIsLongerThanTheWindowFillsIt) {
  const auto p = only(Builder()
                          .step(0, 3'000)
                          .launched(100, 110, 9'000, 9'500)  // launched in it, ran behind it
                          .launched(8'000, 8'010, 9'600, 9'700)
                          .window(0, 3'000)
                          .build());
  EXPECT_EQ(us(p, Cause::kGpuCompute), 3'000);
}

TEST(PartitionWindows, AQueueOfWhichNothingRunsInAWindowFillsIt) {
  const auto job_with_launches_at = [](const std::vector<std::int64_t>& all) {
    Builder builder;
    builder.step(0, 30'000).window(0, 10'000).window(20'000, 23'000);
    for (std::int64_t at = 0; at < 10; ++at) {
      builder.launched(at * 1'000, at * 1'000 + 10, at * 1'000 + 10, at * 1'000 + 1'000);
    }
    std::int64_t correlation = 77;
    for (const std::int64_t at : all) {
      builder.call(at, at + 10, HostCallKind::kLaunch, 2, correlation++);  // autograd's thread
    }
    return builder.build();
  };
  Timeline timeline = job_with_launches_at({20'100, 21'400, 22'500});
  EXPECT_EQ(only(timeline).edge_busy_ns, 3'000 * kUs);
  timeline.events_lost = 1;
  EXPECT_EQ(only(timeline).edge_busy_ns, 0) << "records of what ran may be among those";
  const auto idle = only(job_with_launches_at({22'500, 22'600}));
  EXPECT_LE(idle.edge_busy_ns, 500 * kUs) << "what was launched may have begun at once";
}

TEST(PartitionWindows, AHostThatWaitsForTheDeviceWaitsForWorkFromBefore) {
  const auto p = only(Builder()
                          .step(0, 10'000)
                          .call(100, 4'000, HostCallKind::kSync)
                          .launched(4'100, 4'110, 4'110, 10'000)
                          .window(0, 10'000)
                          .build());
  EXPECT_EQ(us(p, Cause::kGpuCompute), 4'000 + 5'890);
  EXPECT_EQ(us(p, Cause::kSync), 110);
  EXPECT_EQ(p.edge_busy_ns, 4'000 * kUs);
}

TEST(PartitionWindows, AnIdleDeviceThatStartsAtOnceWasIdleBefore) {
  const auto p = only(Builder()
                          .step(0, 10'000)
                          .wait(0, 6'000)
                          .launched(6'000, 6'010, 6'012, 10'000)
                          .window(0, 10'000)
                          .build());
  EXPECT_EQ(us(p, Cause::kInputWait), 6'000);
  EXPECT_EQ(p.edge_busy_ns, 0);
}

TEST(PartitionWindows, AnOperationWithoutLengthIsNotTheFirst) {
  const auto p = only(Builder()
                          .step(0, 10'000)
                          .launched(100, 110, 120, 120)
                          .launched(2'000, 2'010, 6'000, 10'000)
                          .window(0, 10'000)
                          .build());
  EXPECT_EQ(p.edge_busy_ns, 6'000 * kUs) << "it ends no gap";
  const auto behind = only(Builder()
                               .step(0, 3'000)
                               .launched(8'000, 8'010, 8'500, 8'500)
                               .launched(100, 110, 9'000, 9'500)
                               .window(0, 3'000)
                               .build());
  EXPECT_EQ(us(behind, Cause::kGpuCompute), 3'000) << "nor does one behind the window";
}

TEST(PartitionWindows, LaunchedWorkWithoutARecordKeepsTheDeviceBusyToTheEnd) {
  Builder builder;
  builder.step(0, 10'000).launched(0, 10, 10, 2'000).window(0, 10'000);
  builder.call(5'000, 5'010, HostCallKind::kLaunch, 1, 77);
  Timeline timeline = builder.build();
  EXPECT_EQ(only(timeline).edge_busy_ns, 0) << "no queue was ever that long";
  timeline.device_ops.front().end_ns = 4'900 * kUs;
  EXPECT_EQ(only(timeline).edge_busy_ns, 5'000 * kUs);
  EXPECT_EQ(us(only(timeline), Cause::kOther), 100);
  timeline.events_lost = 1;
  EXPECT_EQ(only(timeline).edge_busy_ns, 0) << "its record may be among those";
}

TEST(PartitionWindows, TheWholeSpanHasTheWaitsOfEveryStep) {
  Builder builder;
  builder.live().step(0, 100).window(100, 200);
  for (std::int64_t i = 1; i <= 4; ++i) {
    // In the window half of a step is waiting, elsewhere four fifths.
    builder.step(i * 100, (i + 1) * 100).wait(i * 100, i * 100 + (i == 1 ? 50 : 80));
  }
  builder.launched(150, 160, 160, 200);
  const Timeline timeline = builder.build();
  const job::JobView view(timeline);
  const auto all = partition_devices(view, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_DOUBLE_EQ(all[0].share(Cause::kInputWait), 0.5);
  const auto shares = shares_of_span(all[0], view.ranks()[all[0].rank]);
  EXPECT_DOUBLE_EQ(shares[static_cast<std::size_t>(Cause::kInputWait)], 290.0 / 400);
  EXPECT_DOUBLE_EQ(shares[static_cast<std::size_t>(Cause::kGpuCompute)], 0.4 * 110 / 200);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-12);
}

// A kernel of 3 us whose launch began while the one before it ran: nothing was queued before it.
TEST(Partition, ALaunchThatTheDeviceWaitsForIsLateThoughItBeganInTime) {
  const auto p =
      only(Builder().step(0, 100).launched(0, 5, 10, 13).launched(12, 17, 22, 100).build());
  EXPECT_EQ(us(p, Cause::kLaunch), 10 + 9);
  EXPECT_EQ(us(p, Cause::kKernelWait), 0);
  const auto queued =
      only(Builder().step(0, 100).launched(0, 5, 10, 60).launched(6, 10, 65, 100).build());
  EXPECT_EQ(us(queued, Cause::kKernelWait), 5);
}

TEST(Partition, KnownWorkOfTheHostIsNoWaitForTheDevice) {
  Builder builder;
  builder.step(0, 10'000).launched(0, 5, 10, 2'000);
  builder.call(1'000, 2'010, HostCallKind::kSync).host_work(3'000, 5'000).wait(4'800, 5'400);
  builder.host_work(5'500, 5'800, trace::HostWorkKind::kSave);
  const auto p = only(builder.launched(6'000, 6'005, 6'010, 10'000).build());
  EXPECT_EQ(us(p, Cause::kInputWait), 600);
  EXPECT_EQ(us(p, Cause::kLaunch), 10 + 1'800 + 300);
  EXPECT_EQ(us(p, Cause::kSync), 4'010 - 600 - 1'800 - 300);
}

/// Steps of 1 ms on the device, each waited for; in the first the host works `host_us` behind that.
Timeline waits_and_works(std::int64_t host_us, std::int64_t loader_us) {
  Builder builder;
  std::int64_t at = 0;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t more = i == 0 ? host_us : 100;
    builder.launched(at, at + 5, at + 10, at + 1'010).call(at + 6, at + 1'015, HostCallKind::kSync);
    if (i == 0) builder.wait(at + 1'100, at + 1'100 + loader_us);
    builder.step(at, at + 1'015 + more);
    at += 1'015 + more;
  }
  return builder.build();
}

TEST(Partition, AWaitForTheDeviceDoesNotHideLongWorkBehindIt) {
  const auto longer = only(waits_and_works(3'000, 0));
  EXPECT_EQ(us(longer, Cause::kLaunch), 10 + 3'010);
  const auto hidden = only(waits_and_works(1'900, 0));
  EXPECT_EQ(us(hidden, Cause::kLaunch), 10) << "a queue of two steps would have hidden it";
  const auto loading = only(waits_and_works(3'000, 1'500));
  EXPECT_EQ(us(loading, Cause::kLaunch), 10) << "most of it is no work";
  EXPECT_EQ(us(loading, Cause::kInputWait), 1'500);
}

TEST(Partition, NothingRanMeansNoPartition) {
  const auto partitions = [](const Timeline& timeline) {
    return partition_devices(job::JobView(timeline), {});
  };
  EXPECT_TRUE(partitions(Timeline{}).empty());
  EXPECT_TRUE(partitions(Builder().step(0, 10).build()).empty());
  EXPECT_TRUE(partitions(Builder().op(5, 5).build()).empty());
}

}  // namespace
}  // namespace unstarve::diagnose
