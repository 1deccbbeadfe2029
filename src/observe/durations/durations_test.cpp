#include <gtest/gtest.h>

#include <algorithm>

#include "emulated/duration/duration_model.h"
#include "observe/durations/device_profile.h"
#include "observe/durations/library_work.h"
#include "observe/durations/record_durations.h"

namespace unstarve::observe {
namespace {

std::string trace(const char* name) {
  return std::string(UNSTARVE_SOURCE_DIR) + "/tests/data/traces/" + name;
}

TracedOperation convolution_backward() {
  TracedOperation operation;
  operation.name = "aten::convolution_backward";
  operation.thread = "1/1/";
  operation.start_us = 100;
  operation.duration_us = 50;
  operation.dims = {{8, 64, 28, 28}, {8, 32, 56, 56}, {64, 32, 3, 3}, {}, {}};
  operation.types = {"c10::Half", "c10::Half", "c10::Half", "", ""};
  operation.values = {"", "", "", "", "[2, 2]"};
  return operation;
}

TEST(LibraryWork, ReadsShapes) {
  const auto work = library_work(convolution_backward(), {});
  ASSERT_TRUE(work);
  ASSERT_EQ(work->convolutions.size(), 2U);
  const emulated::ConvolutionWork& input = work->convolutions[0];
  EXPECT_EQ(input.pass, emulated::ConvolutionPass::kInputGradient);
  EXPECT_EQ(input.input_channels, 32);
  EXPECT_EQ(input.output[0], 28);
  EXPECT_EQ(input.stride[1], 2);
  EXPECT_EQ(input.type, emulated::NumberType::kF16);
  TracedOperation product;
  product.name = "aten::addmm";
  product.dims = {{1000}, {32, 2048}, {2048, 1000}, {}, {}};
  const auto matmul = library_work(product, {});
  ASSERT_TRUE(matmul && matmul->matmul);
  EXPECT_EQ(matmul->matmul->k, 2048);
  product.dims = {{1000}, {32, 2048}, {2047, 1000}};
  EXPECT_FALSE(library_work(product, {}));
  product.dims.clear();
  EXPECT_FALSE(library_work(product, {}));
}

TEST(RecordDurations, KernelsGoToTheirOperationsPasses) {
  TracedEventReader events;
  events.operations = {convolution_backward()};
  events.launches = {{1, "1/1/", 110}, {2, "1/1/", 120}, {3, "1/1/", 130}, {4, "2/2/", 120}};
  const auto kernel = [](const char* name, double us, std::int64_t correlation) {
    TracedKernel made;
    made.name = name;
    made.duration_us = us;
    made.correlation = correlation;
    return made;
  };
  events.kernels = {kernel("x_dgrad_y", 30, 1), kernel("nchwToNhwc", 8, 2),
                    kernel("x_wgrad_y", 10, 3), kernel("of_another_thread", 99, 4)};
  const RecordedDurations durations = record_durations(events, "made");
  ASSERT_EQ(durations.recording.convolutions.size(), 2U);
  EXPECT_DOUBLE_EQ(durations.recording.convolutions[0].ns, 36e3);
  EXPECT_DOUBLE_EQ(durations.recording.convolutions[1].ns, 12e3);
  EXPECT_EQ(durations.recording.kernels.size(), 4U);
  EXPECT_EQ(durations.operations, 1);
}

TEST(RecordDurations, ReadsARealTrace) {
  const auto durations =
      record_durations(trace("resnet50_num_workers_4_worker0.1623212756351.json.gz"));
  ASSERT_TRUE(durations) << durations.error().message;
  EXPECT_EQ(durations->kernels, 8868);
  EXPECT_EQ(durations->recording.device, "Tesla V100-DGXS-32GB");
  EXPECT_GE(durations->recording.convolutions.size(), 60U);
  double convolution_ns = 0;
  for (const auto& row : durations->recording.convolutions) {
    convolution_ns += row.ns * static_cast<double>(row.count);
  }
  EXPECT_NEAR(convolution_ns / 1e6, 402.9, 1);
  const auto document = device_profile(*durations->device);
  ASSERT_TRUE(document);
  const auto profile = emulated::parse_profile(*document);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->device_name, "Emulated Tesla V100-DGXS-32GB");
  const auto table = emulated::DurationTable::create(durations->recording);
  const auto model = emulated::DurationModel::create(*profile, table);
  const auto& row = durations->recording.convolutions.front();
  EXPECT_EQ(model->estimate(row.work).source, emulated::DurationSource::kRecorded);
}

TEST(RecordDurations, ATraceWithoutAGpuIsAnError) {
  const auto durations =
      record_durations(trace("cpu_only_rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"));
  ASSERT_FALSE(durations);
  EXPECT_NE(durations.error().message.find("no kernel"), std::string::npos);
}

TEST(DeviceProfile, TakesTheNearestAndItsSize) {
  TracedDevice device{"NVIDIA A30", 25'000'000'000, 56, 8, 0};
  const auto document = device_profile(device);
  ASSERT_TRUE(document);
  const auto profile = emulated::parse_profile(*document);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->multiprocessors, 56);
  EXPECT_NEAR(profile->peak.f16_tensor_flops / 1e12, 312.0 * 56 / 108, 1);
  device.multiprocessors = 0;
  EXPECT_FALSE(device_profile(device));
}

}  // namespace
}  // namespace unstarve::observe
