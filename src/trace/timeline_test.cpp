#include "trace/timeline.h"

#include <gtest/gtest.h>

namespace unstarve::trace {
namespace {

TEST(ClassifyHostCall, KnowsLaunchesSyncsAndAllocations) {
  EXPECT_EQ(classify_host_call("cudaLaunchKernel"), HostCallKind::kLaunch);
  EXPECT_EQ(classify_host_call("hipMemcpyAsync"), HostCallKind::kLaunch);
  EXPECT_EQ(classify_host_call("cudaMemcpy"), HostCallKind::kSync);
  EXPECT_EQ(classify_host_call("cuStreamSynchronize"), HostCallKind::kSync);
  EXPECT_EQ(classify_host_call("cudaMalloc"), HostCallKind::kAllocation);
  EXPECT_EQ(classify_host_call("cudaFreeHost"), HostCallKind::kAllocation);
  EXPECT_EQ(classify_host_call("cudaGetDevice"), HostCallKind::kOther);
  EXPECT_EQ(classify_host_call("cudaStreamWaitEvent"), HostCallKind::kOther);
}

TEST(CommunicationKernel, IsFoundByName) {
  EXPECT_TRUE(is_communication_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)"));
  EXPECT_FALSE(is_communication_kernel("volta_sgemm_128x64_nn"));
}

TEST(NameTable, GivesOneIdPerName) {
  Timeline timeline;
  NameTable names(timeline);
  const NameId a = names.intern("a");
  EXPECT_EQ(names.intern("a"), a);
  EXPECT_NE(names.intern("b"), a);
  EXPECT_EQ(timeline.name_of(a), "a");
  EXPECT_EQ(timeline.name_of(99), "");
}

}  // namespace
}  // namespace unstarve::trace
