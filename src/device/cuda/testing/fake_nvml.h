#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/cuda/nvml_library.h"

namespace unstarve::device::test {

/// An NVML with two GPUs, for tests: any function can be missing or fail, on one device or on all.
/// Its functions are plain C functions, so the state they answer from is static; one at a time.
class FakeNvml {
 public:
  using Return = nvml::Return;

  FakeNvml();
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  /// What NvmlLibrary::load() takes.
  NvmlLibrary::Lookup lookup();

  std::set<std::string> missing;               // functions that this driver does not have
  std::map<std::string, Return> failing;       // on every device
  std::map<std::string, Return> failing_on_1;  // on device 1 only
  std::map<std::string, int> calls;
  std::deque<nvml::EventData> events;          // that have arrived, of whatever device
  std::vector<std::string> instances;          // MIG UUIDs of device 0; "": a gap. None: MIG is off
  std::vector<std::string> instances_sampled;  // by the hardware's counters
  nvml::Ancestor ancestor = nvml::Ancestor::kNode;  // of the two devices
  std::uint64_t energy_mj = 5'000'000'000;          // of each device so far
  std::uint32_t nvlinks = 0;                        // up, of each; one more is down
  char devices[2] = {};                             // their addresses are the handles
  char parts[8] = {};                               // the same of the instances
};

}  // namespace unstarve::device::test
