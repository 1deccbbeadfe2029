#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace unstarve::device::test {

/// What the fake libcuda.so of the tests does and has seen. It has two devices.
struct FakeDriver {
  std::map<std::string, int> failing;  // the code that a function returns without doing anything
  bool shut_down = false;              // every function returns CUDA_ERROR_DEINITIALIZED
  bool is_initialised = false;
  std::map<int, int> retained;  // primary contexts, by device
  std::vector<void*> current;   // contexts pushed, by all threads
  std::set<void*> alive;        // memory given out
  std::vector<unsigned> flags;  // of each cuMemHostAlloc
  std::map<std::string, int> calls;
};

/// What the library's function `fake_driver` returns.
using GetFakeDriver = FakeDriver* (*)();

}  // namespace unstarve::device::test
