#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/cupti_ring.h"
#include "base/ring/mapped_ring.h"
#include "emulated/process/api_call.h"
#include "emulated/process/records/recorder.h"
#include "emulated/process/shared_state.h"
#include "emulated/process/testing/process_gpu_fixture.h"

// The process's GPUs in real time: what is checked are orders and lower bounds.
namespace unstarve::emulated {
namespace {

using ::testing::Ge;

TEST_F(ProcessGpuTest, WorkGoesOnWhileTheHostDoes) {
  const std::int64_t started_ns = now_ns();
  run(30 * kMs);
  EXPECT_EQ(gpu_.query(stream_), Outcome::kNotReady);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  EXPECT_THAT(now_ns() - started_ns, Ge(30 * kMs));
  EXPECT_EQ(gpu_.query(stream_), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, AFullStreamHoldsTheHost) {
  const std::int64_t started_ns = now_ns();
  for (int i = 0; i < 1124; ++i) run(100'000);
  EXPECT_THAT(now_ns() - started_ns, Ge(100 * 100'000));
}

TEST_F(ProcessGpuTest, EventsTellWhenTheirPlaceIsReached) {
  Event* start = event();
  Event* end = event();
  EXPECT_EQ(query_event(start), Outcome::kSuccess);  // never recorded
  float ms = 0;
  EXPECT_EQ(elapsed_ms(start, end, &ms), Outcome::kInvalidHandle);
  EXPECT_EQ(record_event(start, stream_), Outcome::kSuccess);
  run(20 * kMs);
  EXPECT_EQ(record_event(end, stream_), Outcome::kSuccess);
  EXPECT_EQ(query_event(end), Outcome::kNotReady);
  EXPECT_EQ(elapsed_ms(start, end, &ms), Outcome::kNotReady);
  EXPECT_EQ(synchronize_event(end), Outcome::kSuccess);
  EXPECT_EQ(elapsed_ms(start, end, &ms), Outcome::kSuccess);
  EXPECT_THAT(ms, Ge(20.0F));
  Event* untimed = event(false);
  EXPECT_EQ(record_event(untimed, stream_), Outcome::kSuccess);
  EXPECT_EQ(elapsed_ms(start, untimed, &ms), Outcome::kInvalidHandle);
  for (Event* each : {start, end, untimed}) EXPECT_EQ(destroy_event(each), Outcome::kSuccess);
  EXPECT_EQ(find_event(start), nullptr);
}

TEST_F(ProcessGpuTest, AStreamWaitsForAnEventOfAnother) {
  Stream* other = nullptr;
  ASSERT_EQ(gpu_.create_stream(false, 0, &other), Outcome::kSuccess);
  Event* reached = event();
  run(20 * kMs);
  EXPECT_EQ(record_event(reached, stream_), Outcome::kSuccess);
  EXPECT_EQ(gpu_.wait_event(other, reached), Outcome::kSuccess);
  EXPECT_EQ(gpu_.query(other), Outcome::kNotReady);
  EXPECT_EQ(gpu_.synchronize(other), Outcome::kSuccess);
  EXPECT_EQ(query_event(reached), Outcome::kSuccess);
  EXPECT_EQ(destroy_event(reached), Outcome::kSuccess);
  EXPECT_EQ(gpu_.destroy_stream(other), Outcome::kSuccess);
  EXPECT_EQ(gpu_.find_stream(other), nullptr);
}

TEST_F(ProcessGpuTest, AHostFunctionRunsInTheStreamsOrderOnAnotherThread) {
  struct Seen {
    std::atomic<std::int64_t> at_ns{0};
    std::thread::id thread;
  } seen;
  const std::int64_t started_ns = now_ns();
  run(20 * kMs);
  const auto function = [](void* argument) {
    auto* out = static_cast<Seen*>(argument);
    out->thread = std::this_thread::get_id();
    out->at_ns = now_ns();
  };
  EXPECT_EQ(gpu_.launch_host_function(stream_, function, &seen), Outcome::kSuccess);
  EXPECT_EQ(seen.at_ns, 0);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  EXPECT_THAT(seen.at_ns - started_ns, Ge(20 * kMs));
  EXPECT_NE(seen.thread, std::this_thread::get_id());
}

TEST_F(ProcessGpuTest, ACallCostsTheHostWhatTheProfileSays) {
  const auto cost_ns = gpu_.profile().host_ns[static_cast<std::size_t>(Call::kLaunchKernel)];
  ASSERT_GT(cost_ns, 0);
  const std::int64_t started_ns = now_ns();
  for (int i = 0; i < 100; ++i) ApiCall call(Call::kLaunchKernel);
  EXPECT_THAT(now_ns() - started_ns, Ge(100 * cost_ns));
}

TEST_F(ProcessGpuTest, CallsWithinACallCostAsWell) {
  const auto cost_ns = gpu_.profile().host_ns[static_cast<std::size_t>(Call::kLaunchKernel)];
  const std::int64_t started_ns = now_ns();
  {
    ApiCall outer(Call::kLaunchKernel);
    ApiCall inner(Call::kLaunchKernel);
    EXPECT_EQ(ApiCall::innermost(), &inner);
    EXPECT_NE(inner.correlation(), outer.correlation());
  }
  EXPECT_THAT(now_ns() - started_ns, Ge(2 * cost_ns));
}

/// Remembers what it is told.
class ListingSink final : public RecordSink {
 public:
  void call_begins(const CallRecord&) override { ++begun; }
  void call_ended(const CallRecord& call) override { correlation = call.activity.correlation_id; }
  void kernel_ended(const cupti::Kernel& record, const char* name) override {
    if (std::strcmp(name, "seen") == 0) kernel = record;
  }
  void copy_ended(const cupti::Memcpy& record) override { copied = record.bytes; }
  void fill_ended(const cupti::Memset&) override {}
  void wait_ended(const cupti::Synchronization&) override { ++waits; }
  std::atomic<int> begun{0};
  std::atomic<int> waits{0};
  std::atomic<std::uint32_t> correlation{0};
  std::atomic<std::uint64_t> copied{0};
  cupti::Kernel kernel;
};

TEST_F(ProcessGpuTest, ASinkIsToldOfCallsAndOfTheirWork) {
  static ListingSink sink;
  set_sink(&sink);
  {
    ApiCall call(Call::kLaunchKernel);
    EXPECT_EQ(gpu_.run_for(stream_, "seen", 50'000), Outcome::kSuccess);
  }
  const std::uint32_t correlation = sink.correlation;
  void* memory = device(4096);
  EXPECT_EQ(copy(memory, &correlation, 4), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  flush_records();
  set_sink(nullptr);
  EXPECT_EQ(sink.begun, 1);
  EXPECT_EQ(sink.copied, 4U);
  EXPECT_GE(sink.waits, 1);
  EXPECT_EQ(sink.kernel.correlation_id, correlation);
  EXPECT_EQ(sink.kernel.end_ns - sink.kernel.start_ns, 50'000U);
  EXPECT_EQ(sink.kernel.stream_id, id_of(stream_));
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, RecordsGetIntoTheRingWithoutAnyCall) {
  run(1234);
  const std::string path = folder_ + "/rings/gpu-0-" + std::to_string(::getpid()) + ".ring";
  Result<RingReader> ring = RingReader::open(path);
  ASSERT_TRUE(ring) << ring.error().message;
  bool seen = false;
  for (int i = 0; i < 1000 && !seen; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto drained = ring->drain([&](std::span<const std::byte> bytes) {
      const auto kernel = cupti::from_ring_record<cupti::Kernel>(bytes);
      seen |= kernel && kernel->end_ns - kernel->start_ns == 1234;
    });
    ASSERT_TRUE(drained);
  }
  EXPECT_TRUE(seen);
}

TEST_F(ProcessGpuTest, OtherProcessesSeeWhatThisOneUses) {
  void* memory = device(64 << 20);
  const Result<const SharedGpu*> shared = SharedState::look(folder_, 0);
  ASSERT_TRUE(shared);
  const GpuUse& use = (*shared)->uses[0];
  EXPECT_EQ(use.pid, ::getpid());
  EXPECT_TRUE(is_alive(use));
  EXPECT_GE(use.memory_bytes, (64U << 20) + gpu_.profile().context_bytes);
  run(50 * kMs);
  EXPECT_GE(use.busy_until_ns, now_ns());
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, AForkedChildHasNoGpu) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool none = gpu_count() == 0 && current_gpu() == nullptr &&
                      usable() == Outcome::kNotInitialized &&
                      find_allocation(&child).place == MemoryPlace::kUnregistered;
    { ApiCall call(Call::kLaunchKernel); }
    ::_exit(none ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(ProcessGpuTest, KernelsAreKnownByTheirAddress) {
  Kernel* kernel = register_kernel("_Z3addPf");
  EXPECT_STREQ(name_of(kernel), "_Z3addPf");
  EXPECT_NE(register_kernel("_Z3addPf"), kernel);
  EXPECT_EQ(find_kernel(kernel), kernel);
  EXPECT_EQ(find_kernel(reinterpret_cast<const char*>(kernel) + 1), nullptr);
  EXPECT_EQ(find_kernel(nullptr), nullptr);
  EXPECT_EQ(find_kernel(&kernel), nullptr);
}

class ProcessGpuStress : public ProcessGpuTest {};

/// What a training process does, from four threads at once.
void use_everything(Gpu& gpu, Kernel* kernel) {
  Stream* stream = nullptr;
  Event* event = nullptr;
  void* memory = nullptr;
  EXPECT_EQ(gpu.create_stream(true, 0, &stream), Outcome::kSuccess);
  EXPECT_EQ(create_event(true, false, &event), Outcome::kSuccess);
  std::vector<char> host(100'000);
  for (int i = 0; i < 50; ++i) {
    ApiCall call(Call::kLaunchKernel);
    EXPECT_EQ(gpu.allocate_in_order(stream, 1 << 20, &memory), Outcome::kSuccess);
    EXPECT_EQ(gpu.launch(stream, kernel, {}), Outcome::kSuccess);
    EXPECT_EQ(gpu.run_for(gpu.find_stream(nullptr), "legacy", 2000), Outcome::kSuccess);
    EXPECT_EQ(record_event(event, stream), Outcome::kSuccess);
    const std::size_t bytes = i % 10 == 0 ? host.size() : 100;
    Copy2d copy{.target = memory,
                .target_pitch = bytes,
                .source = host.data(),
                .source_pitch = bytes,
                .width_bytes = bytes,
                .height = 1,
                .waits = false};
    EXPECT_EQ(gpu.copy(stream, copy), Outcome::kSuccess);
    EXPECT_EQ(gpu.launch_host_function(
                  stream, [](void*) {}, nullptr),
              Outcome::kSuccess);
    EXPECT_EQ(synchronize_event(event), Outcome::kSuccess);
    EXPECT_EQ(gpu.synchronize(stream), Outcome::kSuccess);
    EXPECT_EQ(gpu.free_in_order(stream, memory), Outcome::kSuccess);
  }
  EXPECT_EQ(destroy_event(event), Outcome::kSuccess);
  EXPECT_EQ(gpu.destroy_stream(stream), Outcome::kSuccess);
}

TEST_F(ProcessGpuStress, FourThreadsUseOneGpuWhileItIsWatched) {
  static ListingSink sink;
  Kernel* kernel = register_kernel("kernel");
  std::atomic<bool> ended{false};
  std::thread watching([&ended] {
    while (!ended) {
      set_sink(&sink);
      flush_records();
      set_sink(nullptr);
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { use_everything(gpu_, kernel); });
  for (std::thread& thread : threads) thread.join();
  ended = true;
  watching.join();
  EXPECT_EQ(gpu_.synchronize_device(), Outcome::kSuccess);
}

}  // namespace
}  // namespace unstarve::emulated
