// Exports of Nsight Systems with a planted cause: what is found in them is what is found in the job
// itself, in every version of the schema as far as it goes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/testing/test_folder.h"
#include "diagnose/diagnose.h"
#include "golden/nsys_export.h"
#include "golden/planted_job.h"
#include "observe/import/nsys/nsys_export.h"

namespace unstarve::golden {
namespace {

using diagnose::Diagnosis;

trace::Timeline starved_job() {
  PlantedJob job;
  for (int i = 0; i < 20; ++i) {
    job.begin_step();
    job.wait(60'000);
    job.copy_in(19'267'584, 2'000, true);
    job.kernels(100, 400, 5);
    job.item();
    job.end_step();
  }
  return job.take();
}

class NsysExport : public ::testing::Test {
 protected:
  observe::NsysImport through_export(const trace::Timeline& timeline,
                                     const ExportLacks& lacks = {}) {
    const std::string path = folder_.path() + "/report.sqlite";
    write_nsys_export(timeline, path, lacks);
    const auto recognized = observe::is_nsys_export(path);
    EXPECT_TRUE(recognized && *recognized);
    auto imported = observe::import_nsys(path);
    EXPECT_TRUE(imported) << imported.error().message;
    return *std::move(imported);
  }

 private:
  TestFolder folder_;
};

void expect_same_partition(const Diagnosis& found, const Diagnosis& planted) {
  ASSERT_TRUE(found.partition);
  EXPECT_DOUBLE_EQ((*found.partition).gpu_compute, (*planted.partition).gpu_compute);
  EXPECT_DOUBLE_EQ((*found.partition).exposed_copy, (*planted.partition).exposed_copy);
  EXPECT_DOUBLE_EQ((*found.partition).input_wait, (*planted.partition).input_wait);
  EXPECT_DOUBLE_EQ((*found.partition).sync, (*planted.partition).sync);
  EXPECT_DOUBLE_EQ((*found.partition).launch, (*planted.partition).launch);
  EXPECT_DOUBLE_EQ((*found.partition).other, (*planted.partition).other);
}

TEST_F(NsysExport, SaysWhatTheJobItselfSays) {
  const trace::Timeline job = starved_job();
  const observe::NsysImport imported = through_export(job);
  EXPECT_TRUE(imported.remarks.empty()) << imported.remarks.front();
  const Diagnosis planted = diagnose::diagnose(job, {});
  const Diagnosis found = diagnose::diagnose(imported.timeline, {});
  expect_same_partition(found, planted);
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings[0].cause, "input_wait");
  EXPECT_EQ(found.steps.count, 20);
  EXPECT_EQ(found.input, trace::InputKind::kNsys);
  ASSERT_EQ(found.devices.size(), 1U);
  EXPECT_EQ(found.devices[0].info.name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(found.copies.h2d_count, 20);
  ASSERT_TRUE(found.copies.pageable_ratio);
  EXPECT_DOUBLE_EQ(*found.copies.pageable_ratio, 1.0);
}

TEST_F(NsysExport, AnOldVersionNamesNoProcesses) {
  const trace::Timeline job = starved_job();
  ExportLacks lacks;
  lacks.global_ids = true;
  const observe::NsysImport imported = through_export(job, lacks);
  expect_same_partition(diagnose::diagnose(imported.timeline, {}), diagnose::diagnose(job, {}));
}

TEST_F(NsysExport, AnOldVersionDoesNotSayWhatIsPageable) {
  ExportLacks lacks;
  lacks.memory_kinds = true;
  const observe::NsysImport imported = through_export(starved_job(), lacks);
  EXPECT_FALSE(diagnose::diagnose(imported.timeline, {}).copies.pageable_ratio);
  ASSERT_EQ(imported.remarks.size(), 1U);
  EXPECT_NE(imported.remarks[0].find("pageable"), std::string::npos);
}

TEST_F(NsysExport, WithoutMarksThereAreNoSteps) {
  ExportLacks lacks;
  lacks.nvtx = true;
  const observe::NsysImport imported = through_export(starved_job(), lacks);
  const Diagnosis found = diagnose::diagnose(imported.timeline, {});
  EXPECT_EQ(found.steps.count, 0);
  ASSERT_TRUE(found.partition);
  EXPECT_EQ((*found.partition).input_wait, 0);
  EXPECT_EQ(imported.remarks.size(), 2U);  // of steps, and of waits
}

TEST_F(NsysExport, WithoutCallsTheReasonIsNotKnown) {
  ExportLacks lacks;
  lacks.runtime = true;
  const observe::NsysImport imported = through_export(starved_job(), lacks);
  const Diagnosis found = diagnose::diagnose(imported.timeline, {});
  ASSERT_TRUE(found.partition);
  EXPECT_EQ((*found.partition).launch, 0);
  EXPECT_EQ((*found.partition).sync, 0);
  ASSERT_EQ(imported.remarks.size(), 1U);
  EXPECT_NE(imported.remarks[0].find("CUPTI_ACTIVITY_KIND_RUNTIME"), std::string::npos);
}

}  // namespace
}  // namespace unstarve::golden
