#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "emulated/driver/driver_call.h"

/// The driver's functions by their name and the version of CUDA that a caller was written for.
namespace unstarve::emulated {
namespace {

/// From `version` on, `name` means `symbol`. What is not listed never changed: its symbol is its
/// name, or its name with "_v2".
struct Versioned {
  const char* name;
  int version;
  const char* symbol;
};

// Of each name, the newest first.
constexpr Versioned kVersioned[] = {
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
    {"cuCtxGetDevice", 0, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 0, "cuCtxSynchronize"},
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuDeviceGetUuid", 0, "cuDeviceGetUuid"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
    {"cuEventElapsedTime", 0, "cuEventElapsedTime"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 0, "cuGetProcAddress"},
    {"cuGraphInstantiate", 11040, "cuGraphInstantiateWithFlags"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamGetCtx", 0, "cuStreamGetCtx"},
};

const char* versioned_symbol(const char* name, int version) {
  for (const Versioned& row : kVersioned) {
    if (std::strcmp(row.name, name) == 0 && version >= row.version) return row.symbol;
  }
  return nullptr;
}

/// This library, by its own address.
void* own_library() {
  static void* const handle = [] {
    Dl_info info = {};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&versioned_symbol), &info) != 0;
    return found ? ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  }();
  return handle;
}

void* find_symbol(const std::string& name) {
  void* const library = own_library();
  return library != nullptr ? ::dlsym(library, name.c_str()) : nullptr;
}

constexpr std::uint64_t kPerThreadStream = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

void* find_entry(const char* name, int version, std::uint64_t flags) {
  const char* const versioned = versioned_symbol(name, version);
  const std::string symbol = versioned != nullptr ? versioned : name;
  const std::string candidates[] = {symbol, symbol + "_v2"};
  // The newer of two where no version says otherwise: the older ones are of CUDA 3 and 4.
  for (std::size_t i = std::size(candidates); i-- > 0;) {
    if (versioned != nullptr && i != 0) continue;
    if ((flags & kPerThreadStream) != 0) {
      for (const char* suffix : {"_ptsz", "_ptds"}) {
        if (void* const found = find_symbol(candidates[i] + suffix)) return found;
      }
    }
    if (void* const found = find_symbol(candidates[i])) return found;
  }
  return nullptr;
}

// CUdriverProcAddressQueryResult.
constexpr int kFound = 0;
constexpr int kNoSuchName = 1;

}  // namespace

UNSTARVE_CUDA cuGetProcAddress_v2(const char* name, void** function, int version,
                                  std::uint64_t flags, int* result) {
  if (name == nullptr || function == nullptr || std::strncmp(name, "cu", 2) != 0) {
    return Outcome::kInvalidValue;
  }
  *function = find_entry(name, version, flags);
  if (result != nullptr) *result = *function != nullptr ? kFound : kNoSuchName;
  if (*function != nullptr) return Outcome::kSuccess;
  report_missing("cuda", name);
  return Outcome::kNotFound;
}

UNSTARVE_CUDA cuGetProcAddress(const char* name, void** function, int version,
                               std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

UNSTARVE_CUDA cuGetExportTable(const void** table, const void*) {
  // Tables of functions that no public header documents: none is answered.
  if (table != nullptr) *table = nullptr;
  report_missing("cuda", "cuGetExportTable");
  return Outcome::kNotFound;
}

}  // namespace unstarve::emulated
