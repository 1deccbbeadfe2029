#include "emulated/context/module.h"

#include "emulated/driver/driver_call.h"

/// Code that a program loads: modules, libraries, and what the linker makes of several images.
namespace unstarve::emulated {
namespace {

using cuda::DevicePointer;

/// CUmodule, CUlibrary, cuLinkState: `act(module)`.
template <class Act>
Outcome on_module(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Module* const module = find_module(handle);
  return module != nullptr ? act(module) : Outcome::kInvalidHandle;
}

Outcome load(void** out, const void* image) {
  if (out == nullptr) return Outcome::kInvalidValue;
  Module* made = nullptr;
  const Outcome outcome = load_module(image, &made);
  if (outcome == Outcome::kSuccess) *out = made;
  return outcome;
}

Outcome load_file(void** out, const char* path) {
  if (out == nullptr) return Outcome::kInvalidValue;
  Module* made = nullptr;
  const Outcome outcome = load_module_file(path, &made);
  if (outcome == Outcome::kSuccess) *out = made;
  return outcome;
}

Outcome find_kernel_of(void** out, void* module, const char* name) {
  if (out == nullptr) return Outcome::kInvalidValue;
  return on_module(module, [&](Module* found) {
    Kernel* kernel = nullptr;
    const Outcome outcome = find_in_module(found, name, &kernel);
    if (outcome == Outcome::kSuccess) *out = kernel;
    return outcome;
  });
}

Outcome find_variable_of(DevicePointer* pointer, std::size_t* bytes, void* module,
                         const char* name) {
  return on_module(module, [&](Module* found) {
    void* address = nullptr;
    const Outcome outcome = find_variable(found, name, &address, bytes);
    if (outcome == Outcome::kSuccess && pointer != nullptr) *pointer = pointer_to(address);
    return outcome;
  });
}

// What the linker gives: an image that load_module takes.
constexpr char kLinkedImage[] = "// linked by unstarve's emulated driver\n";

}  // namespace

UNSTARVE_CUDA cuModuleLoadData(void** module, const void* image) {
  return on_context([&](Gpu&) { return load(module, image); });
}

UNSTARVE_CUDA cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return on_context([&](Gpu&) { return load(module, image); });
}

UNSTARVE_CUDA cuModuleLoadFatBinary(void** module, const void* image) {
  return on_context([&](Gpu&) { return load(module, image); });
}

UNSTARVE_CUDA cuModuleLoad(void** module, const char* path) {
  return on_context([&](Gpu&) { return load_file(module, path); });
}

UNSTARVE_CUDA cuModuleUnload(void* module) {
  return on_module(module, [](Module* found) { return unload_module(found); });
}

UNSTARVE_CUDA cuModuleGetFunction(void** function, void* module, const char* name) {
  return find_kernel_of(function, module, name);
}

UNSTARVE_CUDA cuModuleGetGlobal_v2(DevicePointer* pointer, std::size_t* bytes, void* module,
                                   const char* name) {
  return find_variable_of(pointer, bytes, module, name);
}

UNSTARVE_CUDA cuModuleGetLoadingMode(int* mode) {
  return answer(mode, 2);  // CU_MODULE_LAZY_LOADING
}

UNSTARVE_CUDA cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*,
                                void**, unsigned) {
  return load(library, image);
}

UNSTARVE_CUDA cuLibraryLoadFromFile(void** library, const char* path, int*, void**, unsigned, int*,
                                    void**, unsigned) {
  return load_file(library, path);
}

UNSTARVE_CUDA cuLibraryUnload(void* library) {
  return on_module(library, [](Module* found) { return unload_module(found); });
}

UNSTARVE_CUDA cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return find_kernel_of(kernel, library, name);
}

UNSTARVE_CUDA cuLibraryGetModule(void** module, void* library) {
  return on_module(library,
                   [&](Module* found) { return answer(module, static_cast<void*>(found)); });
}

UNSTARVE_CUDA cuLibraryGetGlobal(DevicePointer* pointer, std::size_t* bytes, void* library,
                                 const char* name) {
  return find_variable_of(pointer, bytes, library, name);
}

UNSTARVE_CUDA cuLibraryGetManaged(DevicePointer* pointer, std::size_t* bytes, void* library,
                                  const char* name) {
  return find_variable_of(pointer, bytes, library, name);
}

UNSTARVE_CUDA cuLinkCreate_v2(unsigned, int*, void**, void** state) {
  return on_context([&](Gpu&) { return load(state, kLinkedImage); });
}

UNSTARVE_CUDA cuLinkAddData_v2(void* state, int, void* image, std::size_t bytes, const char*,
                               unsigned, int*, void**) {
  return on_module(state, [&](Module*) {
    return image != nullptr && bytes != 0 ? Outcome::kSuccess : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuLinkAddFile_v2(void* state, int, const char* path, unsigned, int*, void**) {
  return on_module(
      state, [&](Module*) { return path != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue; });
}

UNSTARVE_CUDA cuLinkComplete(void* state, const void** image, std::size_t* bytes) {
  return on_module(state, [&](Module*) {
    if (image == nullptr) return Outcome::kInvalidValue;
    *image = kLinkedImage;
    return bytes != nullptr ? answer(bytes, sizeof kLinkedImage) : Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuLinkDestroy(void* state) {
  return on_module(state, [](Module* found) { return unload_module(found); });
}

}  // namespace unstarve::emulated
