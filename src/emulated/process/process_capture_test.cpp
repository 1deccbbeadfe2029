#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "emulated/process/testing/process_gpu_fixture.h"

namespace unstarve::emulated {
namespace {

using ::testing::Ge;

class ProcessCaptureTest : public ProcessGpuTest {};

TEST_F(ProcessCaptureTest, AGraphReplaysItsWork) {
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

TEST_F(ProcessCaptureTest, AGraphWritesKeptBytesAtItsLaunch) {
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

TEST_F(ProcessCaptureTest, ACaptureForbidsToWait) {
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  EXPECT_EQ(gpu_.synchronize(stream_), Outcome::kCaptureUnsupported);
  EXPECT_TRUE(capture_of(stream_).invalidated);
  EXPECT_EQ(gpu_.run_for(stream_, "work", 1), Outcome::kCaptureInvalidated);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_FALSE(capture_of(stream_).active);
}

TEST_F(ProcessCaptureTest, AllocatingIsForbiddenUnlessTheThreadIsRelaxed) {
  void* memory = nullptr;
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(stream_, 0), Outcome::kSuccess);
  const int before = exchange_capture_mode(2);
  EXPECT_EQ(gpu_.allocate(4096, MemoryPlace::kDevice, &memory), Outcome::kSuccess);
  exchange_capture_mode(before);
  void* none = nullptr;
  EXPECT_EQ(gpu_.allocate(4096, MemoryPlace::kDevice, &none), Outcome::kCaptureUnsupported);
  EXPECT_EQ(gpu_.end_capture(stream_, &graph), Outcome::kCaptureInvalidated);
  EXPECT_EQ(gpu_.free(memory), Outcome::kSuccess);
}

TEST_F(ProcessCaptureTest, AStreamThatJoinedACaptureMustComeBack) {
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
    if (joins) {
      EXPECT_EQ(destroy_graph(graph), Outcome::kSuccess);
    }
  }
  EXPECT_EQ(destroy_event(fork), Outcome::kSuccess);
  EXPECT_EQ(destroy_event(join), Outcome::kSuccess);
  EXPECT_EQ(gpu_.destroy_stream(side), Outcome::kSuccess);
}

TEST_F(ProcessCaptureTest, TheDefaultStreamCannotBeUsedBesideACaptureThatOrdersWithIt) {
  Stream* blocking = nullptr;
  ASSERT_EQ(gpu_.create_stream(true, 0, &blocking), Outcome::kSuccess);
  Graph* graph = nullptr;
  EXPECT_EQ(gpu_.begin_capture(gpu_.find_stream(nullptr), 0), Outcome::kCaptureUnsupported);
  EXPECT_EQ(gpu_.begin_capture(blocking, 0), Outcome::kSuccess);
  EXPECT_EQ(gpu_.run_for(gpu_.find_stream(nullptr), "work", 1), Outcome::kCaptureImplicit);
  EXPECT_EQ(gpu_.end_capture(blocking, &graph), Outcome::kCaptureInvalidated);
  EXPECT_EQ(gpu_.destroy_stream(blocking), Outcome::kSuccess);
}

}  // namespace
}  // namespace unstarve::emulated
