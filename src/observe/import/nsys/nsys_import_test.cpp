// Exports made row by row: what only some versions have, several processes, and files that nobody
// should have made.
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>

#include "base/testing/test_folder.h"
#include "observe/import/nsys/nsys_export.h"
#include "trace/store/sqlite.h"

namespace unstarve::observe {
namespace {

constexpr const char* kKernels =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
    "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER)";
constexpr const char* kCalls =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
    "correlationId INTEGER, nameId INTEGER)";
constexpr const char* kRanges =
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, "
    "textId INTEGER, globalTid INTEGER)";
constexpr const char* kStrings =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL); "
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), "
    "(3, 'cudaStreamSynchronize_v3020'), (4, 'iteration 7'), (5, 'cuCtxGetCurrent')";
constexpr std::int64_t kProcess = 100;

std::string global(std::int64_t process, std::int64_t thread) {
  return std::to_string((std::int64_t{1} << 56) | (process << 24) | thread);
}

class NsysImportTest : public ::testing::Test {
 protected:
  std::string make(std::initializer_list<std::string> statements) {
    const std::string path = folder_.path() + "/report.sqlite";
    auto database = trace::Database::create(path);
    EXPECT_TRUE(database);
    for (const std::string& sql : statements) {
      const Status done = database->execute(sql.c_str());
      EXPECT_TRUE(done) << done.error().message;
    }
    return path;
  }
  NsysImport import(std::initializer_list<std::string> statements) {
    auto imported = import_nsys(make(statements));
    EXPECT_TRUE(imported) << imported.error().message;
    return imported ? *std::move(imported) : NsysImport();
  }

  TestFolder folder_;
};

TEST_F(NsysImportTest, ProcessesWithTheSameNumbersAreToldApart) {
  const auto [timeline, remarks] =
      import({kStrings, kKernels, kCalls,
              "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER)",
              "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100', 108), (1, 'NVIDIA H100', 132)",
              "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)",
              "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 100), (1, 0, 200)",
              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " + global(100, 101) +
                  ", 7, 2), "
                  "(11, 21, " +
                  global(200, 201) + ", 7, 2)",
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (30, 40, 0, 7, 7, " + global(100, 0) +
                  ", 1), (31, 41, 0, 7, 7, " + global(200, 0) + ", 1)"});
  ASSERT_EQ(timeline.device_ops.size(), 2U);
  EXPECT_EQ(timeline.device_ops[0].device, 0);
  EXPECT_EQ(timeline.device_ops[1].device, 1);
  EXPECT_NE(timeline.device_ops[0].correlation, timeline.device_ops[1].correlation);
  ASSERT_EQ(timeline.host_calls.size(), 2U);
  EXPECT_EQ(timeline.host_calls[1].process, 200);
  EXPECT_EQ(timeline.host_calls[1].thread, 201);
  EXPECT_EQ(timeline.host_calls[1].correlation, timeline.device_ops[1].correlation);
  EXPECT_EQ(timeline.name_of(timeline.host_calls[0].name), "cudaLaunchKernel");
  EXPECT_EQ(timeline.host_calls[0].kind, trace::HostCallKind::kLaunch);
  ASSERT_EQ(timeline.devices.size(), 2U);
  EXPECT_EQ(timeline.devices[1].name, "NVIDIA H100");
  EXPECT_EQ(timeline.devices[1].multiprocessors.value_or(0), 132);
}

TEST_F(NsysImportTest, MemoryKindsAreNumberedFromPageable) {
  const auto [timeline, remarks] = import(
      {"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, "
       "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER)",
       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 64, 1, 0, 2), "
       "(3, 4, 0, 64, 1, 1, 2), (5, 6, 0, -5, 2, 2, 4), (7, 8, 0, 9223372036854775807, 8, 2, 9)"});
  ASSERT_EQ(timeline.device_ops.size(), 4U);
  EXPECT_EQ(timeline.device_ops[0].source, trace::MemoryKind::kPageable);
  EXPECT_EQ(timeline.device_ops[0].direction, trace::CopyDirection::kHostToDevice);
  EXPECT_EQ(timeline.device_ops[1].source, trace::MemoryKind::kPinned);
  EXPECT_EQ(timeline.device_ops[2].bytes, 0);
  EXPECT_EQ(timeline.device_ops[2].target, trace::MemoryKind::kManaged);
  EXPECT_EQ(timeline.device_ops[3].target, trace::MemoryKind::kUnknown);
  EXPECT_LE(timeline.device_ops[3].bytes, std::int64_t{1} << 37);
}

TEST_F(NsysImportTest, UsersMarksAreStepsAndWaits) {
  const std::string thread = global(kProcess, 1);
  const auto [timeline, remarks] =
      import({kStrings, kRanges,
              "INSERT INTO NVTX_EVENTS VALUES (10, 20, 59, 'data_loading', NULL, " + thread +
                  "), "
                  "(20, 100, 59, 'iteration 6', NULL, " +
                  thread +
                  "), "
                  "(110, 200, 59, NULL, 4, " +
                  thread +
                  "), "
                  "(120, 130, 59, 'forward', NULL, " +
                  thread +
                  "), "
                  "(5, NULL, 59, 'iteration 8', NULL, " +
                  thread +
                  "), "
                  "(300, NULL, 75, 'NCCL', NULL, " +
                  thread + ")"});
  ASSERT_EQ(timeline.steps.size(), 2U);
  EXPECT_EQ(timeline.steps[0].when.start_ns, 20);
  EXPECT_EQ(timeline.steps[0].when.end_ns, 110);  // until the next begins
  EXPECT_EQ(timeline.steps[1].when.end_ns, 200);
  EXPECT_EQ(timeline.steps[1].process, kProcess);
  ASSERT_EQ(timeline.loader_waits.size(), 1U);
  EXPECT_EQ(timeline.loader_waits[0].when.duration_ns(), 10);
  EXPECT_EQ(timeline.events_lost, 0);
}

TEST_F(NsysImportTest, OptimizerStepsEndSteps) {
  const std::string thread = global(kProcess, 1);
  const auto [timeline, remarks] = import({kRanges,
                                           "INSERT INTO NVTX_EVENTS VALUES "
                                           "(10, 20, 59, 'Optimizer.step#SGD.step', NULL, " +
                                               thread +
                                               "), "
                                               "(50, 60, 59, 'Optimizer.step#SGD.step', NULL, " +
                                               thread +
                                               "), "
                                               "(95, 99, 59, 'Optimizer.step#SGD.step', NULL, " +
                                               thread + ")"});
  ASSERT_EQ(timeline.steps.size(), 2U);
  EXPECT_EQ(timeline.steps[1].when.start_ns, 60);
  EXPECT_EQ(timeline.steps[1].when.end_ns, 99);
}

TEST_F(NsysImportTest, SynchronisationsThatNoCallShowsAreWaits) {
  const auto [timeline, remarks] =
      import({kStrings, kCalls,
              "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, "
              "globalPid INTEGER, correlationId INTEGER, syncType INTEGER)",
              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, " + global(100, 101) +
                  ", 1, 3), "
                  "(30, 40, " +
                  global(100, 101) + ", 2, 5)",
              "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (11, 19, " + global(100, 0) +
                  ", 1, 3), (31, 39, " + global(100, 0) + ", 2, 4), (50, 60, " + global(100, 0) +
                  ", 3, 2), (70, 80, " + global(100, 0) + ", 4, 1)"});
  ASSERT_EQ(timeline.host_calls.size(), 3U);  // the stream's wait for an event is none of the host
  for (const trace::HostCall& call : timeline.host_calls) {
    EXPECT_EQ(call.kind, trace::HostCallKind::kSync);
  }
}

TEST_F(NsysImportTest, RowsWithoutSenseAreCounted) {
  const auto [timeline, remarks] =
      import({kKernels,
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
              "(30, 20, 0, 7, 1, 0, 1), (-5, 20, 0, 7, 1, 0, 1), (NULL, 20, 0, 7, 1, 0, 1), "
              "(0, 9223372036854775807, 0, 7, 1, 0, 1), ('x', 'y', 'z', 'a', 'b', 'c', 'd'), "
              "(1, 2, 9223372036854775807, -7, -1, -1, 99)"});
  EXPECT_EQ(timeline.events_lost, 4);
  ASSERT_EQ(timeline.device_ops.size(), 2U);  // of text SQLite makes zeros
  EXPECT_EQ(timeline.device_ops[1].device, -1);
  EXPECT_EQ(timeline.device_ops[1].correlation, trace::kNoCorrelation);
}

TEST_F(NsysImportTest, ViewsAndComputedColumnsAreNotThere) {
  const auto [timeline, remarks] = import(
      {"CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
       "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE endless(start) AS (SELECT 1 UNION "
       "ALL SELECT start + 1 FROM endless) SELECT start, start AS end, 0 AS deviceId FROM endless",
       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, bytes INTEGER AS "
       "(length(zeroblob(1000000000))))",
       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end) VALUES (1, 2)"});
  ASSERT_EQ(timeline.device_ops.size(), 1U);
  EXPECT_EQ(timeline.device_ops[0].bytes, 0);
}

TEST_F(NsysImportTest, TooManyRowsAreAnError) {
  const std::string path = make({kKernels,
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
                                 "(1, 2, 0, 7, 1, 0, 1), (3, 4, 0, 7, 2, 0, 1)"});
  ImportOptions options;
  options.max_events = 1;
  const auto imported = import_nsys(path, options);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, ErrorCode::kCorruptData);
  EXPECT_NE(imported.error().message.find(path), std::string::npos);
}

TEST_F(NsysImportTest, OtherFilesAreNoExports) {
  EXPECT_FALSE(is_nsys_export(make({"CREATE TABLE run (key TEXT, value TEXT)"})).value_or(true));
  const std::string text = folder_.path() + "/trace.json";
  std::ofstream(text) << "{\"traceEvents\": []}";
  EXPECT_FALSE(is_nsys_export(text).value_or(true));
  EXPECT_FALSE(is_nsys_export(folder_.path()).value_or(true));
  EXPECT_FALSE(import_nsys(text));
}

TEST_F(NsysImportTest, DamageIsAnErrorThatNamesTheFile) {
  const std::string path = make({kStrings, kKernels});
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(4096, '\x7f');
  }
  const auto imported = import_nsys(path);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, ErrorCode::kCorruptData) << imported.error().message;
  EXPECT_NE(imported.error().message.find(path), std::string::npos);
}

}  // namespace
}  // namespace unstarve::observe
