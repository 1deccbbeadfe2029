#include <cstring>
#include <unordered_map>

#include "base/mutex.h"
#include "emulated/context/module.h"
#include "emulated/runtime/copies.h"
#include "emulated/runtime/kernels.h"
#include "emulated/runtime/runtime_call.h"

/// What programs compiled by nvcc register when they are loaded: the names of their kernels and
/// variables, by the address of the stub that the program calls.
namespace unstarve::emulated {
namespace {

struct Function {
  const char* name = nullptr;  // lives as long as the program's library
  Kernel* kernel = nullptr;    // made at the first launch
};

struct Variable {
  std::size_t bytes = 0;
  std::unordered_map<int, void*> addresses;  // by GPU; made at the first use
};

/// libtorch_cuda registers some 100,000 kernels while it is loaded, of which a program launches a
/// few hundred.
struct Registered {
  Registered() { functions.reserve(1U << 17U); }

  Mutex mutex;
  std::unordered_map<const void*, Function> functions UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<const void*, Variable> variables UNSTARVE_GUARDED_BY(mutex);
};

Registered& registered() {
  static auto* const all = new Registered;  // never destroyed: used while the process ends
  return *all;
}

Kernel* make_kernel(const void* function) {
  const MutexLock lock(registered().mutex);
  const auto found = registered().functions.find(function);
  if (found == registered().functions.end()) return nullptr;
  if (found->second.kernel == nullptr) found->second.kernel = register_kernel(found->second.name);
  return found->second.kernel;
}

Outcome find_symbol(const void* symbol, void** address, std::size_t* bytes) {
  return on_gpu([&](Gpu& gpu) {
    const MutexLock lock(registered().mutex);
    const auto found = registered().variables.find(symbol);
    if (found == registered().variables.end()) return Outcome::kInvalidSymbol;
    Variable& variable = found->second;
    if (bytes != nullptr) *bytes = variable.bytes;
    if (address == nullptr) return Outcome::kSuccess;
    Outcome outcome = Outcome::kSuccess;
    void*& own = variable.addresses[gpu.index()];
    if (own == nullptr) outcome = gpu.allocate(variable.bytes, MemoryPlace::kDevice, &own);
    *address = own;
    return outcome;
  });
}

/// `symbol`'s bytes from `offset` on; kInvalidValue: it does not have that many.
Outcome find_range(const void* symbol, std::size_t offset, std::size_t bytes, std::byte** out) {
  void* address = nullptr;
  std::size_t size = 0;
  const Outcome found = find_symbol(symbol, &address, &size);
  if (found != Outcome::kSuccess) return found;
  if (offset > size || bytes > size - offset) return Outcome::kInvalidValue;
  *out = static_cast<std::byte*>(address) + offset;
  return Outcome::kSuccess;
}

Outcome copy_to_symbol(const void* symbol, const void* source, std::size_t bytes,
                       std::size_t offset, void* stream, bool waits) {
  std::byte* target = nullptr;
  const Outcome found = find_range(symbol, offset, bytes, &target);
  if (found != Outcome::kSuccess) return found;
  return copy_memory({target, bytes, source, bytes, bytes, 1, waits}, cuda::MemcpyKind::kDefault,
                     stream);
}

Outcome copy_from_symbol(void* target, const void* symbol, std::size_t bytes, std::size_t offset,
                         void* stream, bool waits) {
  std::byte* source = nullptr;
  const Outcome found = find_range(symbol, offset, bytes, &source);
  if (found != Outcome::kSuccess) return found;
  return copy_memory({target, bytes, source, bytes, bytes, 1, waits}, cuda::MemcpyKind::kDefault,
                     stream);
}

}  // namespace

Kernel* find_function(const void* function) {
  {
    const MutexLock lock(registered().mutex);
    const auto found = registered().functions.find(function);
    if (found != registered().functions.end() && found->second.kernel != nullptr) {
      return found->second.kernel;
    }
  }
  Kernel* const kernel = make_kernel(function);
  return kernel != nullptr ? kernel : find_kernel(function);
}

extern "C" {

#define UNSTARVE_REGISTRATION __attribute__((visibility("default")))

UNSTARVE_REGISTRATION void** __cudaRegisterFatBinary(void* binary) {
  // The handle is only handed back to us; who registered it does not matter.
  return new void*(binary);
}

UNSTARVE_REGISTRATION void __cudaRegisterFatBinaryEnd(void**) {}

UNSTARVE_REGISTRATION void __cudaUnregisterFatBinary(void** handle) { delete handle; }

UNSTARVE_REGISTRATION void __cudaRegisterFunction(void**, const char* stub, char*, const char* name,
                                                  int, void*, void*, void*, void*, int*) {
  const MutexLock lock(registered().mutex);
  registered().functions.insert_or_assign(stub, Function{name, nullptr});
}

UNSTARVE_REGISTRATION void __cudaRegisterVar(void**, char* variable, char*, const char*, int,
                                             std::size_t bytes, int, int) {
  const MutexLock lock(registered().mutex);
  registered().variables.insert_or_assign(variable, Variable{bytes, {}});
}

UNSTARVE_REGISTRATION void __cudaRegisterManagedVar(void**, void** variable, char*, const char*,
                                                    int, std::size_t bytes, int, int) {
  Outcome why = Outcome::kSuccess;
  Gpu* const gpu = runtime_gpu(&why);
  if (gpu != nullptr) why = gpu->allocate(bytes, MemoryPlace::kManaged, variable);
}

UNSTARVE_REGISTRATION char __cudaInitModule(void**) { return 1; }

#undef UNSTARVE_REGISTRATION

}  // extern "C"

UNSTARVE_CUDART cudaGetSymbolAddress(void** address, const void* symbol) {
  if (address == nullptr) return remember(Outcome::kInvalidValue);
  return remember(find_symbol(symbol, address, nullptr));
}

UNSTARVE_CUDART cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return remember(Outcome::kInvalidValue);
  return remember(find_symbol(symbol, nullptr, bytes));
}

UNSTARVE_CUDART cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes,
                                   std::size_t offset, cuda::MemcpyKind) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_to_symbol(symbol, source, bytes, offset, nullptr, true));
}

UNSTARVE_CUDART cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes,
                                        std::size_t offset, cuda::MemcpyKind, void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_to_symbol(symbol, source, bytes, offset, stream, false));
}

UNSTARVE_CUDART cudaMemcpyFromSymbol(void* target, const void* symbol, std::size_t bytes,
                                     std::size_t offset, cuda::MemcpyKind) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_from_symbol(target, symbol, bytes, offset, nullptr, true));
}

UNSTARVE_CUDART cudaMemcpyFromSymbolAsync(void* target, const void* symbol, std::size_t bytes,
                                          std::size_t offset, cuda::MemcpyKind, void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_from_symbol(target, symbol, bytes, offset, stream, false));
}

}  // namespace unstarve::emulated
