#include "device/emulated/emulated_gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "device/emulated/resnet50.h"

namespace unstarve::device::emulated {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class EmulatedGpuTest : public ::testing::Test {
 protected:
  std::unique_ptr<EmulatedGpu> open(const std::string& profile, const std::string& ring = "") {
    auto gpu = EmulatedGpu::open(*find_profile(profile), {.ring_path = ring}, {clock_, work_});
    EXPECT_TRUE(gpu) << gpu.error().message;
    return std::move(*gpu);
  }
  void train_step(EmulatedGpu& gpu, const TrainingModel& model, double samples) {
    ASSERT_TRUE(gpu.launch(model.forward, samples, Stream::kCompute));
    ASSERT_TRUE(gpu.launch(model.backward, samples, Stream::kCompute));
    ASSERT_TRUE(gpu.launch(model.optimizer, samples, Stream::kCompute));
  }
  ManualClock clock_{1'000'000'000};
  ClockHostWork work_{clock_};
};

TEST_F(EmulatedGpuTest, ResidentStepsTakeThePublishedTime) {
  for (const auto& [profile, batch] : {std::pair{"a100", 400}, {"a100", 64}, {"h100", 400}}) {
    auto gpu = open(profile);
    const TrainingModel model = resnet50(gpu->profile());
    const double expected_s = gpu->profile().reference_step_s * batch / 400.0;
    const std::int64_t start_ns = clock_.now_ns();
    for (int step = 0; step < 10; ++step) train_step(*gpu, model, batch);
    ASSERT_TRUE(gpu->synchronize_device());
    const double step_s = 1e-9 * static_cast<double>(clock_.now_ns() - start_ns) / 10;
    EXPECT_NEAR(step_s / expected_s, 1.0, 0.01) << profile << " batch " << batch;
  }
}

TEST_F(EmulatedGpuTest, GpuTimeOfAStepDoesNotDependOnHowLongTheHostWasAway) {
  auto gpu = open("a100");
  const TrainingModel model = resnet50(gpu->profile());
  std::vector<std::int64_t> steps_ns;
  for (const std::int64_t away_ns : {0L, 40 * kMs, 700 * kMs, 3 * kMs}) {
    clock_.advance_ns(away_ns);
    const std::int64_t start_ns = clock_.now_ns();
    train_step(*gpu, model, 64);
    ASSERT_TRUE(gpu->synchronize(Stream::kCompute));
    steps_ns.push_back(clock_.now_ns() - start_ns);
  }
  EXPECT_THAT(steps_ns, ::testing::Each(steps_ns.front()));
}

TEST_F(EmulatedGpuTest, PinnedUploadsReturnAtOnceAndPageableOnesWhenStaged) {
  auto gpu = open("a100");
  const std::int64_t bytes = 240'000'000;
  const std::int64_t launch_ns = gpu->profile().launch_host_ns;

  std::int64_t start_ns = clock_.now_ns();
  ASSERT_TRUE(gpu->copy({.bytes = bytes, .host_memory = HostMemory::kPinned}));
  EXPECT_EQ(clock_.now_ns() - start_ns, launch_ns);
  ASSERT_TRUE(gpu->synchronize(Stream::kCompute));
  EXPECT_EQ(clock_.now_ns() - start_ns, launch_ns + gpu->profile().launch_latency_ns + 10 * kMs);

  start_ns = clock_.now_ns();
  ASSERT_TRUE(gpu->copy({.bytes = bytes, .host_memory = HostMemory::kPageable}));
  EXPECT_EQ(clock_.now_ns() - start_ns, launch_ns + 40 * kMs);
}

TEST_F(EmulatedGpuTest, AnUploadOnItsOwnStreamOverlapsCompute) {
  auto gpu = open("a100");
  const std::vector<KernelLaunch> kernel = {{KernelId::kLinear, 1, 50.0 * kMs, 0}};
  const std::int64_t start_ns = clock_.now_ns();
  ASSERT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
  ASSERT_TRUE(gpu->copy(
      {.bytes = 240'000'000, .host_memory = HostMemory::kPinned, .stream = Stream::kUpload}));
  gpu->wait_event(Stream::kCompute, gpu->record_event(Stream::kUpload));
  ASSERT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
  ASSERT_TRUE(gpu->synchronize_device());
  EXPECT_NEAR(static_cast<double>(clock_.now_ns() - start_ns), 100.0 * kMs, 0.1 * kMs);
}

TEST_F(EmulatedGpuTest, ComputeWaitsForAnUploadItDependsOn) {
  auto gpu = open("a100");
  ASSERT_TRUE(gpu->copy(
      {.bytes = 240'000'000, .host_memory = HostMemory::kPinned, .stream = Stream::kUpload}));
  const Event uploaded = gpu->record_event(Stream::kUpload);
  gpu->wait_event(Stream::kCompute, uploaded);
  const std::vector<KernelLaunch> kernel = {{KernelId::kLinear, 1, 1.0 * kMs, 0}};
  ASSERT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
  EXPECT_EQ(gpu->record_event(Stream::kCompute).ready_ns, uploaded.ready_ns + kMs);
}

TEST_F(EmulatedGpuTest, ReadingBackToPageableMemoryWaitsForTheStream) {
  auto gpu = open("a100");
  const std::vector<KernelLaunch> kernel = {{KernelId::kLinear, 1, 50.0 * kMs, 0}};
  const std::int64_t start_ns = clock_.now_ns();
  ASSERT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
  ASSERT_TRUE(gpu->copy({.bytes = 4, .direction = Direction::kDeviceToHost}));
  EXPECT_GE(clock_.now_ns() - start_ns, 50 * kMs);
}

TEST_F(EmulatedGpuTest, AFullQueueBlocksTheLaunchUntilItsFirstOperationEnds) {
  auto gpu = open("a100");
  const std::vector<KernelLaunch> kernels(StreamTimeline::kQueueCapacity,
                                          KernelLaunch{KernelId::kLinear, 1, 100.0 * kMs, 0});
  const std::int64_t start_ns = clock_.now_ns();
  ASSERT_TRUE(gpu->launch(kernels, 1, Stream::kCompute));
  EXPECT_LT(clock_.now_ns() - start_ns, 10 * kMs);
  ASSERT_TRUE(gpu->launch(std::span(kernels).first(1), 1, Stream::kCompute));
  EXPECT_GE(clock_.now_ns() - start_ns, 100 * kMs);
}

TEST_F(EmulatedGpuTest, MemoryRunsOutAndComesBack) {
  auto gpu = open("a100");
  const std::int64_t total = gpu->profile().total_memory_bytes;
  auto most = gpu->allocate(total - 100);
  ASSERT_TRUE(most);
  const auto too_much = gpu->allocate(101);
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, ErrorCode::kOutOfMemory);
  EXPECT_THAT(too_much.error().message, ::testing::HasSubstr("Emulated"));
  most->reset();
  EXPECT_EQ(gpu->memory_used_bytes(), 0);
  EXPECT_TRUE(gpu->allocate(total));
  EXPECT_FALSE(gpu->allocate(-1));
}

TEST_F(EmulatedGpuTest, WritesWhatItDidAsActivityRecords) {
  const std::string path = ::testing::TempDir() + "emulated_gpu_records.ring";
  auto gpu = open("a100", path);
  const std::vector<KernelLaunch> kernel = {{KernelId::kOptimizer, 1, 5.0 * kMs, 0}};
  ASSERT_TRUE(gpu->copy({.bytes = 1'000'000}));
  ASSERT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
  ASSERT_TRUE(gpu->synchronize_device());

  Result<RingReader> ring = RingReader::open(path);
  ASSERT_TRUE(ring);
  std::map<std::uint32_t, cupti::ApiCall> calls;
  std::vector<cupti::Kernel> kernels;
  std::vector<cupti::Memcpy> copies;
  std::vector<cupti::Synchronization> syncs;
  ASSERT_TRUE(ring->drain([&](std::span<const std::byte> bytes) {
    if (auto call = cupti::from_ring_record<cupti::ApiCall>(bytes)) {
      calls[call->correlation_id] = *call;
    }
    if (auto each = cupti::from_ring_record<cupti::Kernel>(bytes)) kernels.push_back(*each);
    if (auto each = cupti::from_ring_record<cupti::Memcpy>(bytes)) copies.push_back(*each);
    if (auto each = cupti::from_ring_record<cupti::Synchronization>(bytes)) syncs.push_back(*each);
  }));
  ASSERT_EQ(kernels.size(), 1U);
  ASSERT_EQ(copies.size(), 1U);
  ASSERT_EQ(syncs.size(), 1U);
  EXPECT_EQ(calls.size(), 3U);
  EXPECT_EQ(kernels[0].end_ns - kernels[0].start_ns, 5'000'000U);
  EXPECT_EQ(kernels[0].stream_id, 7U);
  EXPECT_EQ(kernel_kinds()[kernels[0].name].name, "multi_tensor_apply_kernel<sgd_momentum>");
  EXPECT_GE(kernels[0].start_ns, calls.at(kernels[0].correlation_id).end_ns);
  EXPECT_EQ(copies[0].source_kind, static_cast<std::uint8_t>(cupti::MemoryKind::kPageable));
  EXPECT_EQ(copies[0].bytes, 1'000'000U);
  EXPECT_EQ(calls.at(copies[0].correlation_id).call,
            static_cast<std::uint32_t>(cupti::RuntimeCall::kCudaMemcpyAsync));
  EXPECT_EQ(syncs[0].end_ns, kernels[0].end_ns);
  EXPECT_THAT(*ring->text(), ::testing::HasSubstr("\"emulated\":true"));
  std::filesystem::remove(path);
}

TEST_F(EmulatedGpuTest, ThreadsMayShareIt) {
  const std::string path = ::testing::TempDir() + "emulated_gpu_threads.ring";
  auto gpu = open("a100", path);
  const std::vector<KernelLaunch> kernel = {{KernelId::kLinear, 1, 1000, 0}};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 100; ++k) {
          EXPECT_TRUE(gpu->launch(kernel, 1, Stream::kCompute));
          EXPECT_TRUE(gpu->copy({.bytes = 100, .stream = Stream::kUpload}));
          EXPECT_TRUE(gpu->allocate(100));
          EXPECT_TRUE(gpu->synchronize(Stream::kCompute));
        }
      });
    }
  }
  EXPECT_EQ(gpu->memory_used_bytes(), 0);
  auto ring = RingReader::open(path);
  ASSERT_TRUE(ring);
  std::int64_t last_end_ns = 0;
  int kernels = 0;
  ASSERT_TRUE(ring->drain([&](std::span<const std::byte> bytes) {
    const auto record = cupti::from_ring_record<cupti::Kernel>(bytes);
    if (!record) return;
    ++kernels;
    EXPECT_GE(static_cast<std::int64_t>(record->start_ns), last_end_ns);
    last_end_ns = static_cast<std::int64_t>(record->end_ns);
  }));
  EXPECT_EQ(kernels, 400);
  std::filesystem::remove(path);
}

TEST_F(EmulatedGpuTest, ARingThatCannotBeMadeIsAnError) {
  const auto gpu = EmulatedGpu::open(
      *find_profile("a100"), {.ring_path = "/nonexistent/folder/gpu-0.ring"}, {clock_, work_});
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::kNotFound);
}

TEST(Profiles, AnUnknownOneListsTheKnown) {
  const auto profile = find_profile("b200");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, ::testing::HasSubstr("a100, h100"));
}

TEST(ResNet50, HasTheSizeOfTheRealOne) {
  const TrainingModel model = resnet50(*find_profile("a100"));
  EXPECT_NEAR(model.macs_per_sample, 4.09e9, 0.05e9);                 // He et al. / torchvision
  EXPECT_NEAR(static_cast<double>(model.parameters), 25.557e6, 1e4);  // torchvision
  // 11.1 million convolution outputs, each kept before and after normalisation, in float32.
  EXPECT_NEAR(static_cast<double>(model.activation_bytes_per_sample), 89e6, 3e6);
  EXPECT_EQ(model.backward.size(), 53U + 52U + 53U + 16U + 1U + 4U);
}

}  // namespace
}  // namespace unstarve::device::emulated
