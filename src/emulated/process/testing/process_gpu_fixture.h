#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "emulated/process/gpu.h"

namespace unstarve::emulated {

inline constexpr std::int64_t kMs = 1'000'000;

/// The folder that the test process's machine shares with others. The machine is made once in a
/// process, by what the environment says at its first use: an A100 that is there twice.
const std::string& machine_state_folder();

/// A stream of the first GPU, which is idle again at the end.
class ProcessGpuTest : public ::testing::Test {
 protected:
  ProcessGpuTest();
  ~ProcessGpuTest() override;

  void run(std::int64_t ns);
  void* device(std::size_t bytes);
  Outcome copy(void* target, const void* source, std::size_t bytes, bool waits = true);
  static Event* event(bool timing = true);

  const std::string& folder_;
  Gpu& gpu_;
  Stream* stream_ = nullptr;
};

}  // namespace unstarve::emulated
