#include "emulated/process/testing/process_gpu_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::emulated {

const std::string& machine_state_folder() {
  static const TestFolder folder;
  static const bool made = [] {
    std::filesystem::create_directory(folder.path() + "/rings");
    const std::string settings = folder.path() + "/settings.json";
    const Result<std::string> profile = find_profile_document("a100");
    std::ofstream(settings) << R"({"gpus": 2, "profile": )" << profile.value() << R"(, "state": ")"
                            << folder.path() << "\"}";
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("UNSTARVE_EMULATED_GPU", settings.c_str(), 1);
    return gpu_count() == 2;
  }();
  EXPECT_TRUE(made);
  return folder.path();
}

ProcessGpuTest::ProcessGpuTest() : folder_(machine_state_folder()), gpu_(*current_gpu()) {
  EXPECT_EQ(gpu_.create_stream(false, 0, &stream_), Outcome::kSuccess);
}

ProcessGpuTest::~ProcessGpuTest() {
  EXPECT_EQ(gpu_.synchronize_device(), Outcome::kSuccess);
  EXPECT_EQ(gpu_.destroy_stream(stream_), Outcome::kSuccess);
}

void ProcessGpuTest::run(std::int64_t ns) {
  EXPECT_EQ(gpu_.run_for(stream_, "work", ns), Outcome::kSuccess);
}

void* ProcessGpuTest::device(std::size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(gpu_.allocate(bytes, MemoryPlace::kDevice, &memory), Outcome::kSuccess);
  return memory;
}

Outcome ProcessGpuTest::copy(void* target, const void* source, std::size_t bytes, bool waits) {
  return gpu_.copy(stream_, {.target = target,
                             .target_pitch = bytes,
                             .source = source,
                             .source_pitch = bytes,
                             .width_bytes = bytes,
                             .height = 1,
                             .waits = waits});
}

Event* ProcessGpuTest::event(bool timing) {
  Event* made = nullptr;
  EXPECT_EQ(create_event(timing, false, &made), Outcome::kSuccess);
  return made;
}

}  // namespace unstarve::emulated
