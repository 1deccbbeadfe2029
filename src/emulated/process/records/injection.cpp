#include "emulated/process/records/injection.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace unstarve::emulated {

namespace {

// The library calls CUDA while it begins.
thread_local bool t_inside = false;

void load() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  void* const address = ::dlsym(library, "InitializeInjection");
  if (address == nullptr) return;
  int (*initialize)() = nullptr;
  static_assert(sizeof(initialize) == sizeof(address));
  std::memcpy(&initialize, &address, sizeof(initialize));
  static_cast<void>(initialize());
}

}  // namespace

void load_injection() {
  static std::once_flag once;
  if (t_inside) return;
  t_inside = true;
  std::call_once(once, load);
  t_inside = false;
}

}  // namespace unstarve::emulated
