#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/cupti_ring.h"
#include "base/mapped_ring.h"
#include "base/testing/test_folder.h"
#include "device/emulated/process/api_call.h"
#include "device/emulated/process/gpu.h"
#include "device/emulated/process/recorder.h"
#include "device/emulated/process/shared_state.h"

// The process's GPUs in real time: what is checked are orders and lower bounds.
namespace unstarve::emulated {
namespace {

using ::testing::Ge;

constexpr std::int64_t kMs = 1'000'000;

/// The machine is made once in a process, by what the environment says then.
const std::string& state_folder() {
  static const TestFolder folder;
  static const bool made = [] {
    std::filesystem::create_directory(folder.path() + "/rings");
    const std::string settings = folder.path() + "/settings.json";
    const Result<std::string> profile = find_profile_document("a100");
    std::ofstream(settings) << R"({"gpus": 2, "profile": )" << profile.value() << R"(, "state": ")"
                            << folder.path() << "\"}";
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("UNSTARVE_EMULATED_RINGS", (folder.path() + "/rings").c_str(), 1);
    ::setenv("UNSTARVE_EMULATED_GPU", settings.c_str(), 1);
    return gpu_count() == 2;
  }();
  EXPECT_TRUE(made);
  return folder.path();
}

class ProcessGpuTest : public ::testing::Test {
 protected:
  ProcessGpuTest() : folder_(state_folder()), gpu_(*current_gpu()) {
    EXPECT_EQ(gpu_.create_stream(false, 0, &stream_), Outcome::kSuccess);
  }
  ~ProcessGpuTest() override {
    EXPECT_EQ(gpu_.synchronize_device(), Outcome::kSuccess);
    EXPECT_EQ(gpu_.destroy_stream(stream_), Outcome::kSuccess);
  }
  void run(std::int64_t ns) { EXPECT_EQ(gpu_.run_for(stream_, "work", ns), Outcome::kSuccess); }
  void* device(std::size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(gpu_.allocate(bytes, MemoryPlace::kDevice, &memory), Outcome::kSuccess);
    return memory;
  }
  Outcome copy(void* target, const void* source, std::size_t bytes, bool waits = true) {
    return gpu_.copy(stream_, {.target = target,
                               .target_pitch = bytes,
                               .source = source,
                               .source_pitch = bytes,
                               .width_bytes = bytes,
                               .height = 1,
                               .waits = waits});
  }
  static Event* event(bool timing = true) {
    Event* made = nullptr;
    EXPECT_EQ(create_event(timing, false, &made), Outcome::kSuccess);
    return made;
  }

  const std::string& folder_;
  Gpu& gpu_;
  Stream* stream_ = nullptr;
};

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

TEST_F(ProcessGpuTest, MemoryIsCountedAndGivenBack) {
  std::size_t before = 0;
  std::size_t total = 0;
  gpu_.memory_info(&before, &total);
  void* memory = device(1 << 30);
  std::size_t after = 0;
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before - after, 1U << 30);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (2 << 20), 0U);
  void* none = nullptr;
  EXPECT_EQ(gpu_.allocate(total, MemoryPlace::kDevice, &none), Outcome::kOutOfMemory);
  EXPECT_EQ(none, nullptr);
  const Allocation found = find_allocation(static_cast<char*>(memory) + 12345);
  EXPECT_EQ(found.place, MemoryPlace::kDevice);
  EXPECT_EQ(found.base, reinterpret_cast<std::uintptr_t>(memory));
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
  EXPECT_EQ(gpu_.free(memory), Outcome::kInvalidValue);
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before, after);
}

TEST_F(ProcessGpuTest, AResetFreesWhatWasAllocated) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  gpu_.memory_info(&before, &total);
  void* memory = device(64 << 20);
  EXPECT_EQ(gpu_.reset(), Outcome::kSuccess);
  gpu_.memory_info(&after, &total);
  EXPECT_EQ(before, after);
  EXPECT_EQ(find_allocation(memory).place, MemoryPlace::kUnregistered);
}

TEST_F(ProcessGpuTest, HostMemoryIsRegisteredOnce) {
  std::vector<char> memory(10'000);
  EXPECT_EQ(register_host(memory.data(), memory.size()), Outcome::kSuccess);
  EXPECT_EQ(register_host(memory.data() + 100, 10), Outcome::kHostMemoryAlreadyRegistered);
  EXPECT_TRUE(find_allocation(memory.data()).registered);
  EXPECT_EQ(free_pinned(memory.data()), Outcome::kInvalidValue);
  EXPECT_EQ(unregister_host(memory.data()), Outcome::kSuccess);
  EXPECT_EQ(unregister_host(memory.data()), Outcome::kHostMemoryNotRegistered);
}

TEST_F(ProcessGpuTest, SmallCopiesComeBackUntilAKernelRan) {
  void* memory = device(4096);
  const int sent = 42;
  int got = 7;
  EXPECT_EQ(copy(memory, &sent, sizeof(sent)), Outcome::kSuccess);
  EXPECT_EQ(copy(&got, memory, sizeof(got)), Outcome::kSuccess);
  EXPECT_EQ(got, 42);
  run(1000);
  EXPECT_EQ(copy(&got, memory, sizeof(got)), Outcome::kSuccess);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, LargeCopiesToTheHostAreZerosThatReallyArrive) {
  constexpr std::size_t kBytes = 8 << 20;
  void* memory = device(kBytes);
  std::vector<char> pageable(kBytes, 'x');
  EXPECT_EQ(copy(memory, pageable.data(), kBytes), Outcome::kSuccess);
  EXPECT_EQ(copy(pageable.data(), memory, kBytes), Outcome::kSuccess);
  EXPECT_EQ(std::count(pageable.begin(), pageable.end(), '\0'), kBytes);
  void* pinned = nullptr;
  ASSERT_EQ(allocate_pinned(kBytes, &pinned), Outcome::kSuccess);
  std::memset(pinned, 'x', kBytes);
  EXPECT_EQ(copy(pinned, memory, kBytes, false), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  const auto* bytes = static_cast<const char*>(pinned);
  EXPECT_EQ(std::count(bytes, bytes + kBytes, '\0'), kBytes);
  EXPECT_EQ(free_pinned(pinned), Outcome::kSuccess);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, RowsOfACopyLieWhereTheirPitchesSay) {
  void* memory = device(4096);
  const std::string sent = "ab..cd..";
  std::string got = "........";
  Copy2d rows{.target = memory,
              .target_pitch = 512,
              .source = sent.data(),
              .source_pitch = 4,
              .width_bytes = 2,
              .height = 2,
              .waits = true};
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kSuccess);
  rows = {.target = got.data(),
          .target_pitch = 4,
          .source = memory,
          .source_pitch = 512,
          .width_bytes = 2,
          .height = 2,
          .waits = true};
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kSuccess);
  EXPECT_EQ(got, "ab..cd..");
  rows.source_pitch = 4095;  // the second row would lie behind the allocation
  EXPECT_EQ(gpu_.copy(stream_, rows), Outcome::kInvalidValue);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, AGraphReplaysItsWork) {
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  for (int i = 0; i < 10; ++i) run(2 * kMs);
  EXPECT_TRUE(capture_of(stream_).active);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kSuccess);
  EXPECT_EQ(node_count(graph), 10U);
  GraphExec* exec = nullptr;
  ASSERT_EQ(instantiate(graph, &exec), Outcome::kSuccess);
  EXPECT_EQ(gpu_.query(stream_), Outcome::kSuccess);  // nothing ran while it was captured
  const std::int64_t started_ns = now_ns();
  EXPECT_EQ(launch_graph(exec, stream_), Outcome::kSuccess);
  EXPECT_EQ(gpu_.query(stream_), Outcome::kNotReady);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kSuccess);
  EXPECT_THAT(now_ns() - started_ns, Ge(20 * kMs));
  EXPECT_EQ(destroy_graph_exec(exec), Outcome::kSuccess);
  EXPECT_EQ(destroy_graph(graph), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, AGraphWritesKeptBytesAtItsLaunch) {
  void* memory = device(4096);
  void* pinned = nullptr;
  ASSERT_EQ(allocate_pinned(64, &pinned), Outcome::kSuccess);
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  EXPECT_EQ(copy(memory, pinned, 4, false), Outcome::kSuccess);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kSuccess);
  GraphExec* exec = nullptr;
  ASSERT_EQ(instantiate(graph, &exec), Outcome::kSuccess);
  for (const int sent : {5, 6}) {
    std::memcpy(pinned, &sent, sizeof(sent));
    EXPECT_EQ(launch_graph(exec, stream_), Outcome::kSuccess);
    int got = 0;
    EXPECT_EQ(copy(&got, memory, sizeof(got)), Outcome::kSuccess);
    EXPECT_EQ(got, sent);
  }
  EXPECT_EQ(destroy_graph_exec(exec), Outcome::kSuccess);
  EXPECT_EQ(destroy_graph(graph), Outcome::kSuccess);
  EXPECT_EQ(free_pinned(pinned), Outcome::kSuccess);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, ACaptureForbidsToWait) {
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kCaptureUnsupported);
  EXPECT_TRUE(capture_of(stream_).invalidated);
  EXPECT_EQ(gpu_.run_for(stream_, "work", 1), Outcome::kCaptureInvalidated);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_FALSE(capture_of(stream_).active);
}

TEST_F(ProcessGpuTest, AllocatingIsForbiddenUnlessTheThreadIsRelaxed) {
  void* memory = nullptr;
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  const int before = exchange_capture_mode(2);
  EXPECT_EQ(gpu_.allocate(4096, MemoryPlace::kDevice, &memory), Outcome::kSuccess);
  exchange_capture_mode(before);
  EXPECT_EQ(gpu_.allocate(4096, MemoryPlace::kDevice, &memory), Outcome::kCaptureUnsupported);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kCaptureInvalidated);
}

TEST_F(ProcessGpuTest, AStreamThatJoinedACaptureMustComeBack) {
  Stream* side = nullptr;
  ASSERT_EQ(gpu_.create_stream(false, 0, &side), Outcome::kSuccess);
  Event* fork = event();
  Event* join = event();
  for (const bool joins : {false, true}) {
    Graph* graph = nullptr;
    EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
    EXPECT_EQ(record_event(fork, stream_), Outcome::kSuccess);
    EXPECT_EQ(gpu_.wait_event(side, fork), Outcome::kSuccess);
    EXPECT_EQ(query_event(fork), Outcome::kCapturedEvent);
    EXPECT_TRUE(capture_of(side).active);
    EXPECT_EQ(gpu_.run_for(side, "work", 1000), Outcome::kSuccess);
    if (joins) {
      EXPECT_EQ(record_event(join, side), Outcome::kSuccess);
      EXPECT_EQ(gpu_.wait_event(stream_, join), Outcome::kSuccess);
    }
    EXPECT_EQ(gpu_.end_capture(stream_, &graph),
              joins ? Outcome::kSuccess : Outcome::kCaptureUnjoined);
    EXPECT_FALSE(capture_of(side).active);
    if (joins) EXPECT_EQ(destroy_graph(graph), Outcome::kSuccess);
  }
  EXPECT_EQ(destroy_event(fork), Outcome::kSuccess);
  EXPECT_EQ(destroy_event(join), Outcome::kSuccess);
  EXPECT_EQ(gpu_.destroy_stream(side), Outcome::kSuccess);
}

TEST_F(ProcessGpuTest, TheDefaultStreamCannotBeUsedBesideACaptureThatOrdersWithIt) {
  Stream* blocking = nullptr;
  ASSERT_EQ(gpu_.create_stream(true, 0, &blocking), Outcome::kSuccess);
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(gpu_.find_stream(nullptr), 0), Outcome::kCaptureUnsupported);
  EXPECT_EQ(gpu_.begin_capture(blocking, 0), Outcome::kSuccess);
  EXPECT_EQ(gpu_.run_for(gpu_.find_stream(nullptr), "work", 1), Outcome::kCaptureImplicit);
  EXPECT_EQ(gpu_.end_capture(blocking, &graph), Outcome::kCaptureInvalidated);
  EXPECT_EQ(gpu_.destroy_stream(blocking), Outcome::kSuccess);
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
