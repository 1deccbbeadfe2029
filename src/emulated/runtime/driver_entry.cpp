#include <dlfcn.h>

#include "emulated/runtime/runtime_call.h"

/// Functions of the driver by their name: the runtime asks the driver, as a real one does.
namespace unstarve::emulated {
namespace {

using GetProcAddress = Outcome (*)(const char* name, void** function, int version,
                                   std::uint64_t flags, int* status);

GetProcAddress driver() {
  static const auto function = [] {
    // Lies beside this library, where $ORIGIN finds it.
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    void* const found = library != nullptr ? ::dlsym(library, "cuGetProcAddress_v2") : nullptr;
    return reinterpret_cast<GetProcAddress>(found);
  }();
  return function;
}

Outcome find(const char* name, void** function, int version, std::uint64_t flags, int* status) {
  if (name == nullptr || function == nullptr) return Outcome::kInvalidValue;
  *function = nullptr;
  int found = 1;  // no such function
  if (driver() == nullptr) return Outcome::kNotSupported;
  const Outcome outcome = driver()(name, function, version, flags, &found);
  if (status != nullptr) *status = found;
  // That there is none is told by `status` where one is asked for.
  if (outcome == Outcome::kNotFound) return status != nullptr ? Outcome::kSuccess : outcome;
  return outcome;
}

}  // namespace

UNSTARVE_CUDART cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                 unsigned version, unsigned long long flags,
                                                 int* status) {
  return remember(find(name, function, static_cast<int>(version), flags, status));
}

UNSTARVE_CUDART cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                        int* status) {
  constexpr int kVersion = UNSTARVE_CUDA_MAJOR >= 13 ? 13020 : 12080;
  return remember(find(name, function, kVersion, flags, status));
}

}  // namespace unstarve::emulated
