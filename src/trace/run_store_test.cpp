#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/cupti_ring.h"
#include "base/ring/mapped_ring.h"
#include "base/testing/test_folder.h"
#include "trace/events/events_file.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"
#include "trace/run_writer.h"
#include "trace/store/sqlite.h"
#include "trace/testing/recorded_rows.h"

namespace unstarve::trace {
namespace {

using testing::HasSubstr;

class RunStore : public testing::Test {
 protected:
  std::unique_ptr<RunWriter> create(const RunWriterOptions& options = {}) {
    RunInfo info;
    info.run_id = "2026-05-01-1";
    info.command = {"python", "train.py", "--name=\"a\xff\""};
    info.started_ns = 5;
    info.device_kind = "absent";
    auto writer = RunWriter::create(dir_, info, options);
    EXPECT_TRUE(writer) << writer.error().message;
    return std::move(*writer);
  }
  static StepRow step(std::int64_t end_ns) {
    StepRow row;
    row.pid = 9;
    row.when = {end_ns - 10, end_ns};
    return row;
  }

  TestFolder folder_;
  std::string dir_ = folder_.path() + "/run";
};

TEST_F(RunStore, KeepsSamplesAndWhyTheyAreAbsent) {
  auto writer = create();
  MetricRow metric;
  metric.name = "gpu.power_w";
  metric.subject = "gpu0";
  metric.unit = "W";
  const std::int64_t id = writer->add_metric(metric);
  writer->add(SampleRow{10, id, 250.0});
  writer->add(SampleRow{20, id, WhyAbsent::kNoPermission});
  ASSERT_TRUE(writer->finish(30, 3));

  const Result<RunReader> run = RunReader::open(dir_ + "/run.sqlite");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->has_ended());
  EXPECT_EQ(run->info("exit_code"), "3");
  EXPECT_EQ(run->info("run_id"), "2026-05-01-1");
  EXPECT_THAT(run->info("command"), HasSubstr("train.py"));
  const auto points = run->series("gpu.power_w", "gpu0");
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_DOUBLE_EQ(*(*points)[0].value, 250.0);
  EXPECT_EQ((*points)[1].value.why_absent(), WhyAbsent::kNoPermission);
  EXPECT_EQ(run->series("gpu.power_w", "gpu1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run->metrics()->at(0).unit, "W");
}

TEST_F(RunStore, EverySeriesComesOutOfOneReadingOfTheSamples) {
  auto writer = create();
  std::vector<std::int64_t> ids;
  for (const char* subject : {"gpu0", "gpu1", "gpu0"}) {
    MetricRow metric;
    metric.name = "gpu.power_w";
    metric.subject = subject;
    ids.push_back(writer->add_metric(metric));
  }
  writer->add(SampleRow{30, ids[0], 3.0});
  writer->add(SampleRow{20, ids[1], 2.0});
  writer->add(SampleRow{10, ids[2], 1.0});
  ASSERT_TRUE(writer->commit());
  const auto run = RunReader::open(dir_);
  ASSERT_TRUE(run) << run.error().message;
  const auto first = run->series("gpu.power_w", "gpu0");
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 2U);
  EXPECT_EQ((*first)[0].t_ns, 10) << "a GPU that was lost and found is one series, by time";
  // What comes later would be seen by a reader that goes over the table again.
  writer->add(SampleRow{40, ids[1], 4.0});
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(run->series("gpu.power_w", "gpu1")->size(), 1U);
  EXPECT_EQ(RunReader::open(dir_)->series("gpu.power_w", "gpu1")->size(), 2U);
}

TEST_F(RunStore, KeepsErrorsOfGpusByTime) {
  auto writer = create();
  writer->add(GpuErrorRow{20, 1, 79});
  writer->add(GpuErrorRow{10, 0, 31, 7, 0});
  ASSERT_TRUE(writer->finish(30, 0));
  const auto errors = RunReader::open(dir_)->gpu_errors();
  ASSERT_TRUE(errors);
  ASSERT_EQ(errors->size(), 2U);
  EXPECT_EQ((*errors)[0].xid, 31);
  EXPECT_EQ(*(*errors)[0].compute_instance, 0);
  EXPECT_EQ((*errors)[1].device, 1);
  EXPECT_FALSE((*errors)[1].gpu_instance.has_value());
}

TEST_F(RunStore, KeepsWhatHeldTheHostUp) {
  auto writer = create();
  writer->add(HostWorkRow{9, 10, HostWorkKind::kSave, {50, 70}});
  writer->add(HostWorkRow{9, 11, HostWorkKind::kCollection, {20, 30}});
  ASSERT_TRUE(writer->finish(80, 0));
  const auto timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->host_work.size(), 2U);
  EXPECT_EQ(timeline->host_work[0].kind, HostWorkKind::kCollection);
  EXPECT_EQ(timeline->host_work[1].when.end_ns, 70);
  EXPECT_EQ(timeline->host_work[1].thread, 10);
}

TEST_F(RunStore, OneOfSeveralWritersGetsAFolder) {
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&] {
      const auto writer = RunWriter::create(dir_, RunInfo{}, {});
      if (writer) {
        ++made;
      } else if (writer.error().code == ErrorCode::kInvalidArgument) {
        ++refused;
      }
    });
  }
  writers.clear();  // joins
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 7);
}

TEST_F(RunStore, AFinishedRunIsOneFile) {
  auto writer = create();
  ASSERT_TRUE(writer->finish(30, 0));
  writer.reset();
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/run.sqlite-wal"));
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/run.sqlite-shm"));
}

TEST_F(RunStore, WhatWasCommittedIsReadWhileTheRunGoesOn) {
  auto writer = create();
  writer->add(step(10));
  ASSERT_TRUE(writer->commit());
  writer->add(step(20));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->steps.size(), 1U);
  EXPECT_EQ(timeline->input, InputKind::kRun);
}

TEST_F(RunStore, ACopyTakenAtAnyMomentIsReadable) {
  auto writer = create();
  writer->add(step(10));
  ASSERT_TRUE(writer->commit());
  // What a kill leaves: the files as they are, nobody who closes them.
  const std::string copy = folder_.path() + "/copy";
  std::filesystem::copy(dir_, copy, std::filesystem::copy_options::recursive);
  const Result<Timeline> timeline = load_run(copy);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->steps.size(), 1U);
}

TEST_F(RunStore, DeviceEventsComeBackWithTheirNames) {
  auto writer = create();
  DeviceOp operation;
  operation.start_ns = 20;
  operation.end_ns = 30;
  operation.device = 2;
  writer->add(operation, "gemm");
  operation.start_ns = 10;
  writer->add(operation, "gemm");
  HostCall call;
  call.end_ns = 4;
  writer->add(call, "cudaLaunchKernel");
  ASSERT_TRUE(writer->finish(40, 0));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->device_ops.size(), 2U);
  EXPECT_EQ(timeline->device_ops[0].start_ns, 10);
  EXPECT_EQ(timeline->name_of(timeline->device_ops[0].name), "gemm");
  ASSERT_EQ(timeline->devices.size(), 1U);
  EXPECT_EQ(timeline->devices[0].index, 2);
  EXPECT_EQ(timeline->host_calls.size(), 1U);
}

TEST_F(RunStore, AChunkThatIsWrittenEarlyHasTheMarkOfItsEvents) {
  auto writer = create();
  ASSERT_TRUE(writer->commit());
  const auto add = [&writer](int count) {
    DeviceOp operation;
    for (int i = 0; i < count; ++i) writer->add(operation, "gemm");
  };
  add(70'000);
  RecordedRows none;
  EXPECT_EQ(read_events(dir_ + "/events-0.uev", none)->events, 0U) << "they are still in the ring";
  writer->set_mark({"cupti-9-1.ring", 70'000, 0, 0}, true);
  writer.reset();  // as a kill does
  RecordedRows rows;
  const auto report = read_events(dir_ + "/events-0.uev", rows);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->events, 70'000U);
  ASSERT_EQ(report->marks.size(), 1U);
  EXPECT_EQ(report->marks.at("cupti-9-1.ring").position, 70'000U);
}

TEST_F(RunStore, ADeviceRingIsReadAgainWhereItsEventsAreNotInTheRun) {
  auto writer = create();
  auto ring =
      RingWriter::create(dir_ + "/rings/cupti-9-1.ring", {.kind = RingKind::kDeviceActivity,
                                                          .record_size = sizeof(cupti::RingRecord),
                                                          .capacity = 8,
                                                          .created_ns = 1});
  ASSERT_TRUE(ring) << ring.error().message;
  cupti::RecordingWindow window;
  window.start_ns = 10;
  window.end_ns = 20;
  const cupti::RingRecord record = cupti::to_ring_record(window);
  ring->append(std::as_bytes(std::span(&record, 1)));
  // The store has the mark, and the chunk with the events was never written.
  writer->set_mark({"cupti-9-1.ring", 1, 0, 0}, true);
  ASSERT_TRUE(writer->commit());
  writer.reset();
  const auto timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->windows.size(), 1U);
}

TEST_F(RunStore, WindowsComeBackAndAnOpenOneEndsWithItsLastRecord) {
  auto writer = create();
  WindowRow window;
  window.process = {7, 70};
  window.start_ns = 100;
  window.end_ns = WhyAbsent::kNotObserved;
  window.clock_error_ns = 5;
  writer->add(window);
  window.end_ns = 200;
  window.records_lost = 3;
  writer->add(window);
  window.number = 1;
  window.start_ns = 300;
  window.end_ns = WhyAbsent::kNotObserved;
  window.records_lost = 0;
  writer->add(window);
  DeviceOp operation;
  operation.start_ns = 310;
  operation.end_ns = 340;
  operation.correlation = correlation_of(7, 1);
  writer->add(operation, "gemm");
  operation.correlation = correlation_of(8, 1);  // of another process
  operation.end_ns = 900;
  writer->add(operation, "gemm");
  ASSERT_TRUE(writer->finish(1000, 0));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->windows.size(), 2U);
  EXPECT_EQ(timeline->windows[0].when.start_ns, 100);
  EXPECT_EQ(timeline->windows[0].when.end_ns, 200);
  EXPECT_EQ(timeline->windows[0].process, 7);
  EXPECT_EQ(timeline->windows[0].clock_error_ns, 5);
  EXPECT_EQ(timeline->windows[1].when.start_ns, 300);
  EXPECT_EQ(timeline->windows[1].when.end_ns, 340);
  EXPECT_EQ(timeline->events_lost, 3);
}

/// Of process 7 steps that are told so, of process 8 one of these and an optimizer's.
Result<Timeline> steps_told_by(RunWriter& writer, const std::string& dir, StepSource source) {
  StepRow row;
  row.source = source;
  row.when = {0, 10};
  for (const std::int64_t pid : {7, 8}) {
    row.pid = pid;
    writer.add(row);
  }
  row.source = StepSource::kOptimizer;
  row.when = {10, 20};
  writer.add(row);
  if (const Status done = writer.finish(30, 0); !done) return forward_error(done);
  return load_run(dir);
}

TEST_F(RunStore, BatchesCountAsStepsWhereNoOptimizerSteps) {
  const auto timeline = steps_told_by(*create(), dir_, StepSource::kLoaderBatch);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->steps.size(), 2U) << "the batch before an optimizer's step is part of it";
  EXPECT_EQ(timeline->steps[0].process, 7);
  EXPECT_EQ(timeline->steps[0].source, StepSource::kLoaderBatch);
  EXPECT_EQ(timeline->steps[1].process, 8);
  EXPECT_EQ(timeline->steps[1].source, StepSource::kOptimizer);
}

TEST_F(RunStore, BackwardCountsAsAStepWhereNoOptimizerSteps) {
  const auto timeline = steps_told_by(*create(), dir_, StepSource::kBackward);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->steps.size(), 2U);
  EXPECT_EQ(timeline->steps[0].source, StepSource::kBackward);
  EXPECT_EQ(timeline->steps[1].source, StepSource::kOptimizer);
}

TEST_F(RunStore, EventsThatNoLongerFitEndTheRecording) {
  auto writer = create();
  DeviceOp operation;
  operation.start_ns = 310;
  operation.end_ns = 340;
  operation.correlation = correlation_of(7, 1);
  writer->add(operation, "gemm");
  ASSERT_TRUE(writer->finish(1000, 0));
  ASSERT_TRUE(load_run(dir_)->windows.empty()) << "recorded all the time";
  Result<Database> store = Database::create(dir_ + "/run.sqlite");
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->execute("UPDATE run SET value = '12' WHERE key = 'events_lost'"));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->windows.size(), 1U);
  EXPECT_EQ(timeline->windows[0].process, 7);
  EXPECT_EQ(timeline->windows[0].when.end_ns, 340) << "not the run's end: nobody knows what was";
}

TEST_F(RunStore, ALoadersStartComesBack) {
  auto writer = create();
  LoaderRow row;
  row.pid = 7;
  row.made_ns = 10;
  row.ready_ns = 40;
  row.thread = 9;
  writer->add(row);
  ASSERT_TRUE(writer->finish(400, 0));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->loaders.size(), 1U);
  EXPECT_EQ(timeline->loaders.front().ready_ns.value_or(0), 40);
  EXPECT_EQ(timeline->loaders.front().thread, 9);
}

TEST_F(RunStore, ARunOfAnEarlierVersionDoesNotSayWhenALoaderWasReady) {
  auto writer = create();
  LoaderRow row;
  row.pid = 7;
  row.made_ns = 10;
  writer->add(row);
  ASSERT_TRUE(writer->finish(30, 0));
  Result<Database> database = Database::create(dir_ + "/run.sqlite");
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("ALTER TABLE loader DROP COLUMN ready_ns"));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->loaders.size(), 1U);
  EXPECT_EQ(timeline->loaders.front().made_ns, 10);
  EXPECT_FALSE(timeline->loaders.front().ready_ns);
}

TEST_F(RunStore, StagesOfALoaderComeBack) {
  auto writer = create();
  StageRow row;
  row.pid = 9;
  row.loader_id = 2;
  row.stage = LoaderStage::kDecode;
  row.when = {100, 300};
  row.spent_ns = 350;
  row.amount = 12;
  writer->add(row);
  ASSERT_TRUE(writer->finish(400, 0));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline) << timeline.error().message;
  ASSERT_EQ(timeline->stages.size(), 1U);
  const StageTime& stage = timeline->stages.front();
  EXPECT_EQ(stage.loader_id, 2);
  EXPECT_EQ(stage.stage, LoaderStage::kDecode);
  EXPECT_EQ(stage.when.duration_ns(), 200);
  EXPECT_EQ(stage.spent_ns, 350);
  EXPECT_EQ(*stage.amount, 12);
  EXPECT_FALSE(stage.threads);
}

TEST_F(RunStore, ARunOfAnEarlierVersionHasNoStages) {
  ASSERT_TRUE(create()->finish(30, 0));
  Result<Database> database = Database::create(dir_ + "/run.sqlite");
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("DROP TABLE stage"));
  const Result<Timeline> timeline = load_run(dir_);
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->stages.empty());
  EXPECT_TRUE(RunWriter::reopen(dir_));
}

TEST_F(RunStore, ADeviceKeepsItsTextWhenItIsSeenFromOutsideToo) {
  auto writer = create();
  writer->add(DeviceRow{0, "Emulated A100", true, 80, R"({"profile": "a100"})"});
  writer->add(DeviceRow{0, "Emulated A100", false, WhyAbsent::kNotSupported, ""});
  ASSERT_TRUE(writer->commit());
  const auto devices = RunReader::open(dir_)->devices();
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_TRUE(devices->front().emulated);
  EXPECT_EQ(devices->front().text, R"({"profile": "a100"})");
  EXPECT_EQ(*devices->front().total_memory_bytes, 80);
}

TEST_F(RunStore, FindingsAndPredictionsAreAddedToAFinishedRun) {
  ASSERT_TRUE(create()->finish(30, 0));
  {
    auto writer = RunWriter::reopen(dir_);
    ASSERT_TRUE(writer);
    (*writer)->add(FindingRow{0, "input_wait", "decode_cpu", 0.4, "clear", "[\"x\"]", "[]"});
    PredictionRow prediction;
    prediction.remedy = "more_workers";
    prediction.predicted_speedup = 1.5;
    (*writer)->add(prediction);
    ASSERT_TRUE((*writer)->commit());
  }
  const Result<RunReader> run = RunReader::open(dir_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->findings()->at(0).cause, "input_wait");
  EXPECT_EQ(run->predictions()->at(0).remedy, "more_workers");
  EXPECT_FALSE(run->predictions()->at(0).measured_speedup);
}

TEST_F(RunStore, ViewsInTheStoreAreNone) {
  ASSERT_TRUE(create()->finish(30, 0));
  {
    auto store = Database::create(dir_ + "/run.sqlite");
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->execute(
        "ALTER TABLE step RENAME TO kept; CREATE VIEW step AS WITH RECURSIVE n(i) AS (SELECT 1 "
        "UNION ALL SELECT i + 1 FROM n) SELECT i AS pid FROM n WHERE i < 0"));
  }
  const auto run = load_run(dir_);  // with the view it would never end
  EXPECT_TRUE(!run || run->steps.empty());
}

TEST_F(RunStore, AFolderWithARunIsNotOverwritten) {
  create();
  EXPECT_FALSE(RunWriter::create(dir_, {}, {}));
}

TEST_F(RunStore, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(folder_.path() + "/file") << "x";
  const auto writer = RunWriter::create(folder_.path() + "/file/run", {}, {});
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, HasSubstr("cannot make the run folder"));
}

TEST_F(RunStore, WhatIsNoRunIsAnError) {
  EXPECT_EQ(load_run(folder_.path()).error().code, ErrorCode::kNotFound);
  std::filesystem::create_directories(dir_);
  std::ofstream(dir_ + "/run.sqlite") << std::string(9000, 'x');
  EXPECT_FALSE(load_run(dir_));
}

TEST_F(RunStore, ADamagedStoreIsAnErrorOrLosesRows) {
  {
    auto writer = create();
    for (int i = 0; i < 3000; ++i) writer->add(step(i));
    ASSERT_TRUE(writer->finish(1, 0));
  }
  const auto size = std::filesystem::file_size(dir_ + "/run.sqlite");
  for (std::uintmax_t at = 0; at < size; at += 1021) {
    const std::string copy = folder_.path() + "/damaged.sqlite";
    std::filesystem::copy_file(dir_ + "/run.sqlite", copy,
                               std::filesystem::copy_options::overwrite_existing);
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    file.close();
    const Result<Timeline> timeline = load_run(copy);
    if (timeline) {
      EXPECT_LE(timeline->steps.size(), 3000U);
    }
  }
}

}  // namespace
}  // namespace unstarve::trace
