#include "device/cuda/gpu_link.h"

#include <gtest/gtest.h>

#include "device/cuda/testing/fake_nvml.h"

namespace unstarve::device {
namespace {

using nvml::Return;
using test::FakeNvml;

class GpuLinkTest : public ::testing::Test {
 protected:
  Reading<std::string> link() {
    const auto library = NvmlLibrary::load(fake_.lookup(), "fake");
    return link_between(*library, *library->device(0), *library->device(1));
  }
  Reading<std::int64_t> up() {
    const auto library = NvmlLibrary::load(fake_.lookup(), "fake");
    return nvlinks_up(*library, *library->device(0));
  }
  FakeNvml fake_;
};

TEST_F(GpuLinkTest, NvlinkComesFirst) {
  fake_.nvlinks = 12;
  EXPECT_EQ(*link(), "NVLink");
  EXPECT_EQ(*up(), 12);  // the thirteenth is down
}

TEST_F(GpuLinkTest, WithoutItTheWayOverPcieIsSaid) {
  EXPECT_EQ(*link(), "host bridges of one NUMA node");
  EXPECT_EQ(*up(), 0);  // there is one, and it is down
  fake_.ancestor = nvml::Ancestor::kSystem;
  fake_.missing = {"nvmlDeviceGetP2PStatus"};
  EXPECT_EQ(*link(), "two NUMA nodes");
}

TEST_F(GpuLinkTest, AGpuWithoutNvlinkHasNone) {
  fake_.failing["nvmlDeviceGetNvLinkState"] = Return::kNotSupported;
  EXPECT_FALSE(up());
}

TEST_F(GpuLinkTest, WhatNvmlDoesNotSayIsAbsent) {
  fake_.missing = {"nvmlDeviceGetTopologyCommonAncestor", "nvmlDeviceGetNvLinkState"};
  EXPECT_FALSE(link());
  EXPECT_FALSE(up());
}

TEST_F(GpuLinkTest, ALevelOfANewerNvmlIsAbsent) {
  fake_.ancestor = static_cast<nvml::Ancestor>(60);
  EXPECT_FALSE(link());
}

}  // namespace
}  // namespace unstarve::device
