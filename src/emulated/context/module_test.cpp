#include "emulated/context/module.h"

#include <gtest/gtest.h>

#include <string>

#include "emulated/process/testing/process_gpu_fixture.h"

namespace unstarve::emulated {
namespace {

class ModuleTest : public ProcessGpuTest {
 protected:
  ModuleTest() {
    EXPECT_EQ(load_module("// text", &module_), Outcome::kSuccess);
    EXPECT_EQ(find_in_module(module_, "add", &kernel_), Outcome::kSuccess);
  }

  Outcome launch(const LaunchShape& shape) { return launch_kernel(stream_, kernel_, shape); }

  Module* module_ = nullptr;
  Kernel* kernel_ = nullptr;
};

TEST_F(ModuleTest, ANameIsOneKernel) {
  Kernel* again = nullptr;
  EXPECT_EQ(find_in_module(module_, "add", &again), Outcome::kSuccess);
  EXPECT_EQ(again, kernel_);
  EXPECT_EQ(std::string(name_of(kernel_)), "add");
  EXPECT_EQ(module_of(kernel_), module_);
  EXPECT_EQ(find_in_module(module_, "", &again), Outcome::kInvalidValue);
}

TEST_F(ModuleTest, AnUnloadedModuleIsUnknown) {
  EXPECT_EQ(unload_module(module_), Outcome::kSuccess);
  EXPECT_EQ(find_module(module_), nullptr);
  EXPECT_EQ(load_module("", &module_), Outcome::kInvalidImage);
  EXPECT_EQ(load_module_file("/no/such/file", &module_), Outcome::kFileNotFound);
}

TEST_F(ModuleTest, LaunchesOutOfBoundsAreRefused) {
  EXPECT_EQ(launch({{1, 1, 1}, {1024, 1, 1}}), Outcome::kSuccess);
  EXPECT_EQ(launch({{2147483647, 1, 1}, {1, 1, 1}, 0}), Outcome::kSuccess);
  for (const LaunchShape& shape :
       {LaunchShape{{0, 1, 1}, {1, 1, 1}}, LaunchShape{{1, 65536, 1}, {1, 1, 1}},
        LaunchShape{{1, 1, 1}, {1025, 1, 1}}, LaunchShape{{1, 1, 1}, {1, 1, 65}},
        LaunchShape{{1, 1, 1}, {32, 33, 1}}}) {
    EXPECT_EQ(launch(shape), Outcome::kInvalidConfiguration);
  }
}

TEST_F(ModuleTest, MuchSharedMemoryIsAskedForFirst) {
  const LaunchShape shape = {{1, 1, 1}, {32, 1, 1}, 100'000};
  EXPECT_EQ(launch(shape), Outcome::kInvalidValue);
  EXPECT_EQ(set_max_dynamic_shared_bytes(gpu_, kernel_, 1 << 20), Outcome::kInvalidValue);
  EXPECT_EQ(set_max_dynamic_shared_bytes(gpu_, kernel_, 100'000), Outcome::kSuccess);
  EXPECT_EQ(launch(shape), Outcome::kSuccess);
}

TEST_F(ModuleTest, ACooperativeLaunchHasToFit) {
  const auto room = static_cast<std::uint32_t>(gpu_.profile().multiprocessors * 2);
  EXPECT_EQ(launch({{room, 1, 1}, {1024, 1, 1}, 0, true}), Outcome::kSuccess);
  EXPECT_EQ(launch({{room + 1, 1, 1}, {1024, 1, 1}, 0, true}), Outcome::kCooperativeLaunchTooLarge);
}

TEST_F(ModuleTest, BlocksFitByThreadsAndSharedMemory) {
  EXPECT_EQ(resident_blocks(gpu_, kernel_, 256, 0), 8);
  EXPECT_EQ(resident_blocks(gpu_, kernel_, 1, 0), 32);
  EXPECT_EQ(resident_blocks(gpu_, kernel_, 256, 48 << 10), 3);
  EXPECT_EQ(resident_blocks(gpu_, kernel_, 2048, 0), 0);
}

}  // namespace
}  // namespace unstarve::emulated
