#include "device/cuda/mig_instances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/nvml_monitor.h"
#include "device/cuda/testing/fake_nvml.h"

namespace unstarve::device {
namespace {

using nvml::Return;
using test::FakeNvml;

class MigTest : public ::testing::Test {
 protected:
  NvmlMonitor open(std::optional<std::string> visible_devices = std::nullopt) {
    Result<NvmlLibrary> library = NvmlLibrary::load(fake_.lookup(), "fake");
    EXPECT_TRUE(library) << library.error().message;
    return NvmlMonitor(std::move(*library), clock_, std::move(visible_devices));
  }
  FakeNvml fake_;
  ManualClock clock_{1'000'000'000};
};

TEST_F(MigTest, InstancesAreTold) {
  fake_.instances = {"MIG-a", "", "MIG-c"};  // the second was destroyed
  NvmlMonitor monitor = open();
  const auto gpus = monitor.enumerate();
  ASSERT_EQ(gpus->size(), 2U);
  const GpuDescription& split = gpus->front();
  EXPECT_TRUE(*split.mig_mode);
  ASSERT_EQ(split.instances.size(), 2U);
  const MigInstance& second = split.instances[1];
  EXPECT_EQ(second.index, 2);
  EXPECT_EQ(second.uuid, "MIG-c");
  EXPECT_EQ(second.name, "NVIDIA Test GPU MIG 1g.5gb");
  EXPECT_EQ(*second.gpu_instance, 9);
  EXPECT_EQ(*second.compute_instance, 0);
  EXPECT_EQ(*second.slices, 1);
  EXPECT_EQ(*second.total_memory_bytes, 140);
  EXPECT_EQ(split.job_instance, std::nullopt);  // there are two
  EXPECT_FALSE(*gpus->back().mig_mode);
  EXPECT_THAT(gpus->back().instances, ::testing::IsEmpty());
}

TEST_F(MigTest, MemoryAndCountersAreThoseOfTheJobsInstance) {
  fake_.instances = {"MIG-a", "MIG-b"};
  NvmlMonitor monitor = open("MIG-b");
  const auto gpus = monitor.enumerate();
  ASSERT_EQ(gpus->front().job_instance, 1U);
  EXPECT_EQ(gpus->front().name, "NVIDIA Test GPU MIG 1g.5gb");
  EXPECT_EQ(*gpus->front().total_memory_bytes, 140);
  const auto readings = monitor.read(0);
  EXPECT_EQ(*readings->memory_used_bytes, 60);
  EXPECT_FALSE(readings->utilization_ratio.has_value());
  EXPECT_THAT(fake_.instances_sampled, ::testing::ElementsAre("8"));
  EXPECT_EQ(*monitor.read(1)->memory_used_bytes, 300);
}

TEST_F(MigTest, WithoutTellingWhichReadingsAreTheWholeGpus) {
  fake_.instances = {"MIG-a", "MIG-b"};
  NvmlMonitor monitor = open("0");
  ASSERT_EQ(*monitor.enumerate()->front().total_memory_bytes, 1000);
  EXPECT_EQ(*monitor.read(0)->memory_used_bytes, 300);
}

TEST_F(MigTest, ADriverThatKnowsNoMigIsRead) {
  fake_.missing = {"nvmlDeviceGetMigMode"};
  NvmlMonitor monitor = open("MIG-a");
  const auto gpus = monitor.enumerate();
  EXPECT_EQ(gpus->front().mig_mode.why_absent(), WhyAbsent::kNotSupported);
  EXPECT_EQ(*monitor.read(0)->memory_used_bytes, 300);
}

TEST_F(MigTest, AnyCallMayFail) {
  fake_.instances = {"MIG-a"};
  for (const char* name :
       {"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount",
        "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetAttributes_v2",
        "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetUUID",
        "nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo_v2", "nvmlGpmMigSampleGet"}) {
    for (const Return code : {Return::kUnknown, Return::kNotSupported, Return::kNoPermission}) {
      fake_.failing = {{name, code}};
      NvmlMonitor monitor = open();
      ASSERT_TRUE(monitor.enumerate()) << name;
      EXPECT_TRUE(monitor.read(0)) << name;
    }
  }
}

/// The first GPU of a machine, "GPU-5".
GpuDescription with_two_instances() {
  MigInstance first;
  first.uuid = "MIG-41b3";
  first.gpu_instance = 1;
  first.compute_instance = 0;
  MigInstance second = first;
  second.uuid = "MIG-41c7";
  second.gpu_instance = 2;
  GpuDescription gpu;
  gpu.uuid = "GPU-5";
  gpu.instances = {first, second};
  return gpu;
}

TEST(InstanceOfJob, IsTheFirstThatIsNamed) {
  const GpuDescription gpu = with_two_instances();
  EXPECT_EQ(instance_of_job(gpu, "MIG-41c7"), 1U);
  EXPECT_EQ(instance_of_job(gpu, " MIG-41b3 , MIG-41c7"), 0U);
  EXPECT_EQ(instance_of_job(gpu, "MIG-GPU-5/2/0"), 1U);
}

TEST(InstanceOfJob, IsNotGuessed) {
  const GpuDescription gpu = with_two_instances();
  for (const char* variable : {"", "0", "MIG-", "MIG-41", "MIG-99", "MIG-GPU-6/2/0", "GPU-5"}) {
    EXPECT_EQ(instance_of_job(gpu, variable), std::nullopt) << variable;
  }
  EXPECT_EQ(instance_of_job(gpu, std::nullopt), std::nullopt);
}

TEST(InstanceOfJob, IsTheOnlyOneWhereNoneIsNamed) {
  GpuDescription gpu = with_two_instances();
  gpu.instances.pop_back();
  EXPECT_EQ(instance_of_job(gpu, std::nullopt), 0U);
  EXPECT_EQ(instance_of_job(gpu, "0"), 0U);
  EXPECT_EQ(instance_of_job(gpu, "GPU-5"), 0U);
  EXPECT_EQ(instance_of_job(gpu, ""), std::nullopt);
  EXPECT_EQ(instance_of_job(gpu, "MIG-41c7"), std::nullopt);
}

TEST(InstanceOfJob, IsNoneOfAGpuBesideTheOneThatIsNamed) {
  GpuDescription gpu = with_two_instances();
  gpu.instances.pop_back();
  for (const char* variable : {"1", "1,0", "GPU-6", "-1", "none"}) {
    EXPECT_EQ(instance_of_job(gpu, variable), std::nullopt) << variable;
  }
}

}  // namespace
}  // namespace unstarve::device
