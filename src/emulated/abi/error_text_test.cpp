#include "emulated/abi/error_text.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::emulated::cuda {
namespace {

TEST(ErrorText, NamesAreTheApis) {
  EXPECT_STREQ(runtime_error_name(0), "cudaSuccess");
  EXPECT_STREQ(runtime_error_name(2), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(driver_error_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(runtime_error_name(999), "cudaErrorUnknown");
}

TEST(ErrorText, ANumberOfOneApiAloneHasOneName) {
  EXPECT_STREQ(runtime_error_name(98), "cudaErrorInvalidDeviceFunction");
  EXPECT_EQ(driver_error_name(98), nullptr);
  EXPECT_STREQ(driver_error_name(202), "CUDA_ERROR_CONTEXT_ALREADY_CURRENT");
  EXPECT_EQ(runtime_error_name(202), nullptr);
}

TEST(ErrorText, EveryNumberWithANameHasAText) {
  int named = 0;
  for (int code = -1; code <= 1000; ++code) {
    const bool has_name = runtime_error_name(code) != nullptr || driver_error_name(code) != nullptr;
    EXPECT_EQ(error_text(code) != nullptr, has_name) << code;
    named += has_name ? 1 : 0;
  }
  EXPECT_GT(named, 120);
}

TEST(ErrorText, OtherNumbersHaveNone) {
  EXPECT_EQ(error_text(-1), nullptr);
  EXPECT_EQ(runtime_error_name(11), nullptr);
  EXPECT_EQ(driver_error_name(1000), nullptr);
}

}  // namespace
}  // namespace unstarve::emulated::cuda
