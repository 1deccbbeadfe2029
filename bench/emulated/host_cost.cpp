// What calls of the CUDA runtime cost the calling thread on an emulated GPU, beside what its
// profile says of a real one. The library is found as a program finds NVIDIA's:
//   unstarve emulate a100 -- build/release/bench/emulated/host_cost a100
// Prints the median and the spread of ten runs for each call, and exits 1 where one is further than
// 10 % from the profile.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "emulated/profile/profile.h"

namespace {

using unstarve::emulated::Call;
using unstarve::emulated::Profile;

constexpr int kRuns = 10;
constexpr int kCalls = 400;  // fewer than a stream's queue holds, so that none waits for the device
constexpr double kTolerance = 0.10;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// The runtime's functions, by their documented signatures.
class Runtime {
 public:
  explicit Runtime(void* library) : library_(library) {}

  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library_, name));
    return function == nullptr ? -1 : function(arguments...);
  }
  template <class... Arguments>
  auto find(const char* name) const {
    return reinterpret_cast<int (*)(Arguments...)>(::dlsym(library_, name));
  }

 private:
  void* library_;
};

struct Case {
  const char* name;
  Call call;
  std::function<int()> once;
};

void stub() {}

/// Median ns of one call; what it gave the device has ended before the next run.
std::vector<double> measure(const Runtime& cuda, const Case& test) {
  const unstarve::SteadyClock clock;
  std::vector<double> runs;
  for (int run = 0; run < kRuns; ++run) {
    const std::int64_t started_ns = clock.now_ns();
    for (int i = 0; i < kCalls; ++i) {
      if (test.once() != 0) return {};
    }
    runs.push_back(static_cast<double>(clock.now_ns() - started_ns) / kCalls);
    cuda.call("cudaDeviceSynchronize");
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::vector<Case> make_cases(const Runtime& cuda) {
  static void* stream = nullptr;
  static void* event = nullptr;
  static void* device = nullptr;
  static void* pinned = nullptr;
  constexpr std::size_t kBytes = 1 << 16;
  cuda.call<void**, unsigned>("cudaStreamCreateWithFlags", &stream, 1U);
  cuda.call<void**, unsigned>("cudaEventCreateWithFlags", &event, 2U);
  cuda.call<void**, std::size_t>("cudaMalloc", &device, kBytes);
  cuda.call<void**, std::size_t, unsigned>("cudaHostAlloc", &pinned, kBytes, 0U);
  // As nvcc's code does it when a library is loaded; the image itself is of no interest here.
  using Register =
      void (*)(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
  static void* image[1] = {nullptr};
  const auto add = reinterpret_cast<Register>(::dlsym(RTLD_DEFAULT, "__cudaRegisterFunction"));
  static char name[] = "_Z6kernelv";
  add(image, reinterpret_cast<const char*>(&stub), name, name, -1, nullptr, nullptr, nullptr,
      nullptr, nullptr);
  cuda.call("cudaDeviceSynchronize");

  const auto launch =
      cuda.find<const void*, Dim3, Dim3, void**, std::size_t, void*>("cudaLaunchKernel");
  const auto copy = cuda.find<void*, const void*, std::size_t, int, void*>("cudaMemcpyAsync");
  const auto fill = cuda.find<void*, int, std::size_t, void*>("cudaMemsetAsync");
  const auto record = cuda.find<void*, void*>("cudaEventRecord");
  const auto query = cuda.find<void*>("cudaEventQuery");
  const auto wait = cuda.find<void*, void*, unsigned>("cudaStreamWaitEvent");
  return {
      {"cudaLaunchKernel", Call::kLaunchKernel,
       [=] { return launch(reinterpret_cast<const void*>(&stub), {}, {}, nullptr, 0, stream); }},
      {"cudaMemcpyAsync, page-locked", Call::kMemcpyAsync,
       [=] { return copy(device, pinned, kBytes, 1, stream); }},
      {"cudaMemsetAsync", Call::kMemsetAsync, [=] { return fill(device, 0, kBytes, stream); }},
      {"cudaEventRecord", Call::kEventRecord, [=] { return record(event, stream); }},
      {"cudaStreamWaitEvent", Call::kStreamWaitEvent, [=] { return wait(stream, event, 0); }},
      {"cudaEventQuery", Call::kEventQuery,
       [=] {
         const int outcome = query(event);
         return outcome == 600 ? 0 : outcome;  // cudaErrorNotReady
       }},
  };
}

bool print_case(const Runtime& cuda, const Profile& profile, const Case& test) {
  const std::vector<double> runs = measure(cuda, test);
  if (runs.empty()) {
    fmt::print("{:32} failed\n", test.name);
    return false;
  }
  const auto expected_ns =
      static_cast<double>(profile.host_ns[static_cast<std::size_t>(test.call)]);
  const double median_ns = (runs[kRuns / 2 - 1] + runs[kRuns / 2]) / 2;
  const double off = median_ns / expected_ns - 1;
  fmt::print("{:32} {:>10.0f} {:>10.0f} {:>10.0f} {:>10.0f} {:>+8.1f} %\n", test.name, expected_ns,
             median_ns, runs.front(), runs.back(), 100 * off);
  return std::abs(off) <= kTolerance;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: unstarve emulate PROFILE -- host_cost PROFILE\n");
    return 2;
  }
  const auto profile = unstarve::emulated::find_profile(arguments[1]);
  if (!profile) {
    fmt::print(stderr, "host_cost: {}\n", profile.error().message);
    return 2;
  }
  void* const library = ::dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fmt::print(stderr, "host_cost: {}; run it under `unstarve emulate`\n", ::dlerror());
    return 2;
  }
  const Runtime cuda(library);
  fmt::print("{:32} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "call, ns", "profile", "median", "least",
             "most", "off");
  bool good = true;
  for (const Case& test : make_cases(cuda)) good = print_case(cuda, *profile, test) && good;
  return good ? 0 : 1;
}
