#include "device/cuda/cuda_pinned_host.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "device/cuda/testing/fake_driver/fake_driver.h"

namespace unstarve::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class CudaPinnedHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = ::dlopen(UNSTARVE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto get = reinterpret_cast<test::GetFakeDriver>(::dlsym(library, "fake_driver"));
    ASSERT_NE(get, nullptr);
    driver_ = get();
    *driver_ = {};
  }

  static std::unique_ptr<CudaPinnedHost> open(int device = 0) {
    return std::move(*CudaPinnedHost::open({UNSTARVE_FAKE_CUDA, device}));
  }

  test::FakeDriver* driver_ = nullptr;
};

TEST_F(CudaPinnedHostTest, GivesPortableMemoryAndTakesItBack) {
  const auto pinned = open();
  const Result<void*> memory = pinned->allocate(10'000);
  ASSERT_TRUE(memory) << memory.error().message;
  std::memset(*memory, 7, 10'000);
  EXPECT_THAT(driver_->alive, ElementsAre(*memory));
  EXPECT_THAT(driver_->flags, ElementsAre(1U));
  EXPECT_TRUE(driver_->current.empty());
  pinned->release(*memory);
  EXPECT_TRUE(driver_->alive.empty());
  EXPECT_TRUE(driver_->current.empty());
}

TEST_F(CudaPinnedHostTest, TouchesNothingBeforeTheFirstAllocation) {
  { const auto pinned = open(); }
  EXPECT_TRUE(driver_->calls.empty());
}

TEST_F(CudaPinnedHostTest, RetainsTheContextOfItsOwnDeviceOnceAndReleasesIt) {
  {
    const auto pinned = open(1);
    void* first = *pinned->allocate(1);
    void* second = *pinned->allocate(1);
    EXPECT_THAT(driver_->retained, ElementsAre(Pair(1, 1)));
    pinned->release(first);
    pinned->release(second);
  }
  EXPECT_THAT(driver_->retained, ElementsAre(Pair(1, 0)));
}

TEST_F(CudaPinnedHostTest, EveryCallThatFailsIsNamed) {
  for (const char* call : {"cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent",
                           "cuMemHostAlloc"}) {
    SCOPED_TRACE(call);
    *driver_ = {};
    const auto pinned = open();
    driver_->failing[call] = 999;
    const Result<void*> refused = pinned->allocate(1);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(call));
    EXPECT_THAT(refused.error().message, HasSubstr("injected (999)"));
    EXPECT_TRUE(driver_->current.empty());
    driver_->failing.clear();  // the next attempt begins anew
    const Result<void*> memory = pinned->allocate(1);
    ASSERT_TRUE(memory) << memory.error().message;
    EXPECT_EQ(driver_->retained[0], 1);
    pinned->release(*memory);
  }
}

TEST_F(CudaPinnedHostTest, NoMoreMemoryToPinIsOutOfMemory) {
  const auto pinned = open();
  driver_->failing["cuMemHostAlloc"] = 2;
  EXPECT_EQ(pinned->allocate(1).error().code, ErrorCode::kOutOfMemory);
}

TEST_F(CudaPinnedHostTest, ADeviceThatIsNotThereIsRefused) {
  EXPECT_THAT(open(7)->allocate(1).error().message, HasSubstr("cuDeviceGet"));
  EXPECT_TRUE(driver_->retained.empty());
}

TEST_F(CudaPinnedHostTest, GivingBackAfterTheDriverHasShutDownIsHarmless) {
  const auto pinned = open();
  void* memory = *pinned->allocate(1);
  driver_->shut_down = true;
  pinned->release(memory);
  EXPECT_EQ(driver_->calls["cuMemFreeHost"], 0);
  EXPECT_FALSE(pinned->allocate(1));
  driver_->shut_down = false;
  pinned->release(memory);
}

TEST_F(CudaPinnedHostTest, AForkedChildLeavesTheDriverAlone) {
  auto pinned = open();
  void* memory = *pinned->allocate(1);
  const int calls_before = driver_->calls["cuCtxPushCurrent"];
  const pid_t child = ::fork();
  if (child == 0) {
    pinned->release(memory);
    const bool refused = !pinned->allocate(1);
    pinned.reset();
    const bool untouched = driver_->calls["cuCtxPushCurrent"] == calls_before &&
                           driver_->calls["cuDevicePrimaryCtxRelease"] == 0;
    ::_exit(refused && untouched ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  pinned->release(memory);
}

TEST(CudaPinnedHostOpenTest, WithoutTheLibraryTheReasonIsGiven) {
  const auto missing = CudaPinnedHost::open({"libno_such_cuda.so.1", 0});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("libno_such_cuda.so.1"));
}

TEST(CudaPinnedHostOpenTest, ALibraryThatIsNotTheDriverIsRefused) {
  const auto other = CudaPinnedHost::open({"libm.so.6", 0});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kNotSupported);
  EXPECT_THAT(other.error().message, HasSubstr("lacks cuInit"));
}

}  // namespace
}  // namespace unstarve::device
