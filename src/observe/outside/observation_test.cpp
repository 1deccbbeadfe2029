#include "observe/outside/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/ring/mapped_ring.h"
#include "base/testing/test_folder.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"

namespace unstarve::observe {
namespace {

using trace::RunReader;
using trace::RunWriter;
using trace::Timeline;

constexpr std::int64_t kAbsent = INT64_MIN;

/// A hook event as docs/formats/run.md lays it out.
struct HookEvent {
  std::uint16_t event = 0;
  std::uint16_t flags = 0;
  std::uint32_t thread_id = 7;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t numbers[5] = {kAbsent, kAbsent, kAbsent, kAbsent, kAbsent};
};

void append(RingWriter& ring, const HookEvent& event) {
  ring.append(std::as_bytes(std::span(&event, 1)));
}

class FakeGpu final : public device::GpuMonitor {
 public:
  Result<std::vector<device::GpuDescription>> enumerate() override {
    device::GpuDescription gpu;
    gpu.name = "Emulated A100";
    gpu.emulated = true;
    gpu.total_memory_bytes = 80;
    gpu.mig_mode = split;
    if (split) gpu.instances = {{.index = 2, .name = "A100 MIG 1g.5gb", .uuid = "MIG-c"}};
    if (split) gpu.job_instance = 0;
    return std::vector<device::GpuDescription>{gpu};
  }
  Result<device::GpuReadings> read(std::int32_t) override {
    if (broken) return fail(ErrorCode::kIo, "lost");
    device::GpuReadings readings;
    readings.utilization_ratio = utilization;
    readings.xid_errors = count += static_cast<std::int64_t>(errors.size());
    if (!errors.empty()) last = errors.back().xid;
    readings.last_xid = last;
    readings.new_errors = std::exchange(errors, {});
    return readings;
  }
  Result<std::vector<device::UtilizationSample>> utilization_samples(std::int32_t) override {
    return std::vector<device::UtilizationSample>();
  }
  std::string source() const override { return "a test"; }

  double utilization = 0.5;
  bool broken = false;
  bool split = false;
  std::vector<device::GpuError> errors;
  std::int64_t count = 0;
  Reading<std::int64_t> last;
};

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    trace::RunInfo info;
    info.run_id = "r1";
    info.command = {"python", "train.py"};
    auto made = RunWriter::create(dir_, info, options_);
    ASSERT_TRUE(made) << made.error().message;
    writer_ = std::move(*made);
    wiring_ = {&clock_, &files_, &gpu_, writer_.get()};
  }

  RingWriter make_ring(const std::string& name, std::uint64_t capacity = 64,
                       std::int64_t born_ns = 1) {
    RingOptions options;
    options.capacity = capacity;
    options.created_ns = born_ns;
    auto ring = RingWriter::create(dir_ + "/rings/" + name, options);
    EXPECT_TRUE(ring);
    return std::move(*ring);
  }

  void tick(Sampler& sampler) {
    clock_.sleep_until_ns(sampler.next_deadline_ns());
    sampler.tick();
  }

  TestFolder folder_;
  std::string dir_ = folder_.path() + "/run";
  ManualClock clock_{1'000'000'000};
  host::HostFiles files_;
  FakeGpu gpu_;
  trace::RunWriterOptions options_;
  std::unique_ptr<RunWriter> writer_;
  SamplerWiring wiring_;
};

TEST_F(SamplerTest, TicksLieOnAGridAndLatenessDoesNotAddUp) {
  Sampler sampler(wiring_, {}, ::getpid());
  sampler.tick();
  EXPECT_EQ(sampler.next_deadline_ns(), 1'100'000'000);
  clock_.advance_ns(130'000'000);  // 30 ms late
  sampler.tick();
  EXPECT_EQ(sampler.next_deadline_ns(), 1'200'000'000);
  clock_.advance_ns(400'000'000);  // three ticks are over
  sampler.tick();
  EXPECT_EQ(sampler.next_deadline_ns(), 1'600'000'000);
  const ObservationReport report = sampler.finish();
  EXPECT_EQ(report.ticks, 3);
  EXPECT_EQ(report.ticks_skipped, 3);
  EXPECT_EQ(report.late_ns_max, 330'000'000);
}

TEST_F(SamplerTest, StepsAndWaitsOfTheHookReachTheRun) {
  Sampler sampler(wiring_, {}, ::getpid());
  tick(sampler);
  RingWriter ring = make_ring("hook-9.ring");
  ASSERT_TRUE(ring.set_text(R"({"loader_place": "train.py:41"})"));
  append(ring,
         HookEvent{.event = 1, .start_ns = 5, .end_ns = 5, .numbers = {9, 1, 0, kAbsent, kAbsent}});
  append(ring, HookEvent{.event = 3, .start_ns = 6, .end_ns = 6, .numbers = {1, 2, 4, 32, 1}});
  append(ring, HookEvent{.event = 4, .start_ns = 10, .end_ns = 30, .numbers = {1, 0, 2, 32, 0}});
  append(
      ring,
      HookEvent{.event = 2, .start_ns = 5, .end_ns = 40, .numbers = {0, 32, 1, kAbsent, kAbsent}});
  append(ring,
         HookEvent{.event = 5, .start_ns = 7, .end_ns = 9, .numbers = {1, 32, 2, 1, kAbsent}});
  append(ring, HookEvent{.event = 7, .start_ns = 31, .end_ns = 32});
  append(ring, HookEvent{.event = 99, .start_ns = 31, .end_ns = 32});  // damaged
  tick(sampler);
  EXPECT_EQ(sampler.live().steps, 1);
  EXPECT_EQ(sampler.live().waited_ns, 20);
  EXPECT_EQ(sampler.finish().ring_records_lost, 1U);
  ASSERT_TRUE(writer_->finish(100, 0));

  const Result<Timeline> timeline = trace::load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->steps.size(), 1U);
  EXPECT_EQ(timeline->steps[0].when.end_ns, 40);
  EXPECT_EQ(*timeline->steps[0].samples, 32);
  EXPECT_EQ(timeline->steps[0].thread, 7);
  ASSERT_EQ(timeline->loader_waits.size(), 1U);
  EXPECT_EQ(*timeline->loader_waits[0].ready_batches, 2);
  ASSERT_EQ(timeline->fetches.size(), 1U);
  EXPECT_EQ(*timeline->fetches[0].cpu_ns, 2);
  EXPECT_FALSE(timeline->fetches[0].collate_ns);
  ASSERT_EQ(timeline->loaders.size(), 1U);
  EXPECT_TRUE(*timeline->loaders[0].pin_memory);
  EXPECT_EQ(timeline->host_calls.size(), 1U);
  EXPECT_EQ(timeline->events_lost, 1);
  ASSERT_EQ(timeline->devices.size(), 1U);
  EXPECT_TRUE(timeline->devices[0].emulated);

  const Result<RunReader> run = RunReader::open(dir_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->info("device_name"), "Emulated A100");
  const auto processes = run->processes();
  ASSERT_TRUE(processes);
  EXPECT_EQ(processes->front().text, R"({"loader_place": "train.py:41"})");
}

TEST_F(SamplerTest, AKilledWatcherLosesNothingThatIsInTheRings) {
  auto sampler = std::make_unique<Sampler>(wiring_, SamplerOptions{}, ::getpid());
  RingWriter ring = make_ring("hook-9.ring");
  append(ring, HookEvent{.event = 2, .start_ns = 0, .end_ns = 10});
  for (int i = 0; i < 12; ++i) tick(*sampler);  // commits after a second
  append(ring, HookEvent{.event = 2, .start_ns = 10, .end_ns = 20});
  tick(*sampler);                                                     // read, but not committed
  append(ring, HookEvent{.event = 2, .start_ns = 20, .end_ns = 30});  // not even read
  // As a kill does: no finish, no commit.
  sampler.reset();
  writer_.reset();

  const Result<trace::LoadedRun> run = trace::load_run_with_remarks(dir_);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->timeline.steps.size(), 3U);
  EXPECT_EQ(run->timeline.steps[2].when.end_ns, 30);
  EXPECT_FALSE(run->remarks.empty());
}

TEST_F(SamplerTest, RingsOfEndedProcessesAreRemovedOnceTheyAreInTheRun) {
  Sampler sampler(wiring_, {}, ::getpid());
  RingWriter ring = make_ring("hook-9.ring");
  append(ring, HookEvent{.event = 6, .start_ns = 10, .end_ns = 10, .numbers = {0}});
  for (int i = 0; i < 13; ++i) tick(sampler);
  EXPECT_TRUE(trace::list_rings(dir_ + "/rings")->empty());
}

TEST_F(SamplerTest, RingsOfProcessesThatWereKilledAreRemovedToo) {
  Sampler sampler(wiring_, {}, ::getpid());
  const RingWriter alive = make_ring("hook-10.ring");
  {
    RingWriter killed = make_ring("hook-9.ring");
    append(killed, HookEvent{.event = 2, .start_ns = 0, .end_ns = 10});
    const RingWriter device = make_ring("cupti-9-1.ring");
  }
  for (int i = 0; i < 13; ++i) tick(sampler);
  EXPECT_EQ(sampler.live().steps, 1);
  EXPECT_THAT(*trace::list_rings(dir_ + "/rings"),
              testing::ElementsAre(dir_ + "/rings/hook-10.ring"));
}

TEST_F(SamplerTest, AProcessIdThatIsUsedAgainIsAnotherProcess) {
  Sampler sampler(wiring_, {}, ::getpid());
  for (const std::int64_t born_ns : {100, 200}) {
    RingWriter ring = make_ring("hook-9.ring", 64, born_ns);
    const std::string text = fmt::format(R"({{"argv": ["{}"]}})", born_ns);
    ASSERT_TRUE(ring.set_text(text));
    append(ring, HookEvent{.event = 1, .start_ns = born_ns, .end_ns = born_ns, .numbers = {9}});
    append(ring, HookEvent{.event = 2, .start_ns = born_ns, .end_ns = born_ns + 10});
    append(ring, HookEvent{.event = 6, .start_ns = born_ns + 10, .end_ns = born_ns + 10});
    for (int i = 0; i < 13; ++i) tick(sampler);
    EXPECT_TRUE(trace::list_rings(dir_ + "/rings")->empty());
  }
  EXPECT_EQ(sampler.live().steps, 2);
  EXPECT_THAT(sampler.finish().remarks, testing::IsEmpty());

  const Result<RunReader> run = RunReader::open(dir_);
  ASSERT_TRUE(run);
  const auto processes = run->processes();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const trace::ProcessRecord& process = (*processes)[i];
    const auto born_ns = static_cast<std::int64_t>(100 * (i + 1));
    EXPECT_EQ(process.row.id.pid, ::getpid());
    EXPECT_EQ(process.row.started_ns, born_ns);
    EXPECT_EQ(*process.ended_ns, born_ns + 10);
    EXPECT_EQ(process.text, fmt::format(R"({{"argv": ["{}"]}})", born_ns));
  }
}

TEST_F(SamplerTest, ARingThatTakesTheNameOfAnotherIsFollowedBesideIt) {
  Sampler sampler(wiring_, {}, ::getpid());
  RingWriter first = make_ring("hook-9.ring");
  tick(sampler);
  // As the hook does it: a whole file, then its name.
  RingWriter second = make_ring("hook-9.new", 64, 2);
  std::filesystem::rename(dir_ + "/rings/hook-9.new", dir_ + "/rings/hook-9.ring");
  append(first, HookEvent{.event = 2, .start_ns = 0, .end_ns = 10});
  append(second, HookEvent{.event = 2, .start_ns = 20, .end_ns = 30});
  tick(sampler);
  EXPECT_EQ(sampler.live().steps, 2);
  append(first, HookEvent{.event = 6, .start_ns = 40, .end_ns = 40});
  for (int i = 0; i < 13; ++i) tick(sampler);
  EXPECT_EQ(trace::list_rings(dir_ + "/rings")->size(), 1U) << "the other one's file";
}

TEST_F(SamplerTest, OverwrittenRecordsAreCounted) {
  Sampler sampler(wiring_, {}, ::getpid());
  RingWriter ring = make_ring("hook-9.ring", 4);
  for (int i = 0; i < 10; ++i) append(ring, HookEvent{.event = 7, .start_ns = i, .end_ns = i});
  tick(sampler);
  EXPECT_EQ(sampler.finish().ring_records_lost, 7U);
}

TEST_F(SamplerTest, ARingThatShrinksIsGivenUpAndTheOthersGoOn) {
  Sampler sampler(wiring_, {}, ::getpid());
  RingWriter bad = make_ring("hook-1.ring");
  RingWriter good = make_ring("hook-2.ring");
  tick(sampler);
  ASSERT_EQ(::truncate((dir_ + "/rings/hook-1.ring").c_str(), 100), 0);
  append(good, HookEvent{.event = 2, .start_ns = 0, .end_ns = 10});
  tick(sampler);
  tick(sampler);
  EXPECT_EQ(sampler.live().steps, 1);
  EXPECT_THAT(sampler.finish().remarks, testing::SizeIs(1));
}

TEST_F(SamplerTest, GpuReadingsArriveAndALostGpuIsAbsentOnce) {
  Sampler sampler(wiring_, {}, ::getpid());
  tick(sampler);
  tick(sampler);
  gpu_.broken = true;
  for (int i = 0; i < 5; ++i) tick(sampler);
  EXPECT_EQ(sampler.live().gpu_utilization.size(), 7U);
  sampler.finish();
  const Result<RunReader> run = RunReader::open(dir_);
  ASSERT_TRUE(run);
  const auto points = run->series("gpu.utilization_ratio", "gpu0");
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 3U);
  EXPECT_DOUBLE_EQ(*(*points)[1].value, 0.5);
  EXPECT_FALSE((*points)[2].value);
}

TEST_F(SamplerTest, ErrorsOfAGpuAreKeptOneByOneAlsoThoseAfterTheLastTick) {
  Sampler sampler(wiring_, {}, ::getpid());
  tick(sampler);
  gpu_.errors = {{.xid = 13}, {.xid = 43, .gpu_instance = 7}};
  tick(sampler);
  clock_.advance_ns(30'000'000);
  gpu_.errors = {{.xid = 79}};  // and the job ends by it
  sampler.finish();
  ASSERT_TRUE(writer_->finish(2'000'000'000, 134));
  const auto run = trace::RunReader::open(dir_);
  const auto errors = run->gpu_errors();
  ASSERT_TRUE(errors);
  ASSERT_EQ(errors->size(), 3U);
  EXPECT_EQ((*errors)[0].xid, 13);
  EXPECT_FALSE((*errors)[0].gpu_instance.has_value());
  EXPECT_EQ(*(*errors)[1].gpu_instance, 7);
  EXPECT_EQ((*errors)[1].t_ns, 1'100'000'000);
  EXPECT_EQ((*errors)[2].t_ns, 1'130'000'000);
  const auto counts = run->series("gpu.xid_errors", "gpu0");
  ASSERT_TRUE(counts);
  EXPECT_DOUBLE_EQ(*counts->front().value, 0);
  EXPECT_DOUBLE_EQ(*counts->back().value, 3);
  EXPECT_DOUBLE_EQ(*run->series("gpu.last_xid", "gpu0")->back().value, 79);
}

TEST_F(SamplerTest, AGpuInMigModeIsSaidToBe) {
  gpu_.split = true;
  Sampler sampler(wiring_, {}, ::getpid());
  tick(sampler);
  sampler.finish();
  ASSERT_TRUE(writer_->finish(2'000'000'000, 0));
  EXPECT_EQ(trace::RunReader::open(dir_)->info("mig"),
            R"([{"gpu":0,"instances":1,"name":"A100 MIG 1g.5gb","uuid":"MIG-c"}])");
}

TEST_F(SamplerTest, AFullStoreDropsRowsCountsThemAndGoesOn) {
  writer_.reset();
  std::filesystem::remove_all(dir_);
  options_.store_pages_max = 40;
  SetUp();
  Sampler sampler(wiring_, {}, ::getpid());
  RingWriter ring = make_ring("hook-9.ring", 4096);
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 500; ++k)
      append(ring, HookEvent{.event = 2, .start_ns = i, .end_ns = i + 1});
    tick(sampler);
  }
  const ObservationReport report = sampler.finish();
  EXPECT_GT(report.write_losses.rows, 0U);
  ASSERT_TRUE(report.write_losses.first_error);
  EXPECT_EQ(report.ticks, 40);
  writer_.reset();
  const Result<Timeline> timeline = trace::load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_GT(timeline->steps.size(), 100U);
}

TEST_F(SamplerTest, ReportsItsOwnCost) {
  Sampler sampler(wiring_, {}, ::getpid());
  for (int i = 0; i < 12; ++i) tick(sampler);
  EXPECT_GT(sampler.finish().cpu_ns, 0);
  const Result<RunReader> run = RunReader::open(dir_);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->series("unstarve.tick_cpu_ns", "unstarve"));
  EXPECT_TRUE(run->series("unstarve.resident_bytes", "unstarve"));
}

TEST_F(SamplerTest, TheThreadSamplesAndStops) {
  const SteadyClock clock;
  wiring_.clock = &clock;
  auto watching = Observation::start(wiring_, {}, ::getpid());
  ASSERT_TRUE(watching);
  const ObservationReport report = (*watching)->stop();
  EXPECT_EQ((*watching)->stop().ticks, report.ticks);
}

}  // namespace
}  // namespace unstarve::observe
