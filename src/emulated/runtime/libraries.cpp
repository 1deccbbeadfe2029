#include "emulated/context/module.h"
#include "emulated/runtime/runtime_call.h"

/// Code loaded by the program through the runtime (cudaLibrary_t).
namespace unstarve::emulated {
namespace {

/// `act(module)` with the library that a program means.
template <class Act>
Outcome on_library(const void* library, Act act) {
  return on_gpu([&](Gpu&) {
    Module* const module = find_module(library);
    return module != nullptr ? act(module) : Outcome::kInvalidHandle;
  });
}

Outcome keep(Outcome outcome, Module* made, void** library) {
  if (outcome == Outcome::kSuccess) *library = made;
  return outcome;
}

}  // namespace

UNSTARVE_CUDART cudaLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*,
                                    void**, unsigned) {
  if (library == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_gpu([&](Gpu&) {
    Module* made = nullptr;
    const Outcome outcome = load_module(code, &made);
    return keep(outcome, made, library);
  }));
}

UNSTARVE_CUDART cudaLibraryLoadFromFile(void** library, const char* path, int*, void**, unsigned,
                                        int*, void**, unsigned) {
  if (library == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_gpu([&](Gpu&) {
    Module* made = nullptr;
    const Outcome outcome = load_module_file(path, &made);
    return keep(outcome, made, library);
  }));
}

UNSTARVE_CUDART cudaLibraryUnload(void* library) {
  return remember(on_library(library, [](Module* module) { return unload_module(module); }));
}

UNSTARVE_CUDART cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  if (kernel == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_library(library, [&](Module* module) {
    Kernel* found = nullptr;
    const Outcome outcome = find_in_module(module, name, &found);
    if (outcome == Outcome::kSuccess) *kernel = found;
    return outcome;
  }));
}

UNSTARVE_CUDART cudaLibraryGetGlobal(void** address, std::size_t* bytes, void* library,
                                     const char* name) {
  return remember(on_library(
      library, [&](Module* module) { return find_variable(module, name, address, bytes); }));
}

UNSTARVE_CUDART cudaLibraryGetManaged(void** address, std::size_t* bytes, void* library,
                                      const char* name) {
  return cudaLibraryGetGlobal(address, bytes, library, name);
}

}  // namespace unstarve::emulated
