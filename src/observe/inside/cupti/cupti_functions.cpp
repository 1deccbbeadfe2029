#include "observe/inside/cupti/cupti_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace unstarve::recording {

namespace {

struct Loaded {
  std::string cupti;
  std::string runtime;
};

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

int look_at(dl_phdr_info* object, std::size_t, void* out) {
  if (object->dlpi_name == nullptr) return 0;
  Loaded& loaded = *static_cast<Loaded*>(out);
  const std::string_view name = file_name(object->dlpi_name);
  if (name.starts_with("libcupti.so") && loaded.cupti.empty()) loaded.cupti = object->dlpi_name;
  if (name.starts_with("libcudart.so")) loaded.runtime = object->dlpi_name;
  return 0;
}

/// Where the CUPTI of a runtime may lie: in one folder with it, or in the wheels that PyTorch and
/// JAX bring, nvidia/cuda_runtime/lib beside nvidia/cuda_cupti/lib.
std::vector<std::string> candidates(const Loaded& loaded) {
  std::vector<std::string> paths;
  if (!loaded.cupti.empty()) return {loaded.cupti};
  const std::string_view runtime = file_name(loaded.runtime);
  const bool is_12 = runtime.starts_with("libcudart.so.12");
  const std::string first = is_12 ? "libcupti.so.12" : "libcupti.so.13";
  const std::string second = is_12 ? "libcupti.so.13" : "libcupti.so.12";
  if (!runtime.empty() && runtime.size() < loaded.runtime.size()) {
    const std::string folder = loaded.runtime.substr(0, loaded.runtime.size() - runtime.size());
    paths.push_back(folder + first);
    paths.push_back(folder + "../../cuda_cupti/lib/" + first);
  }
  paths.push_back(first);
  paths.push_back(second);
  paths.emplace_back("libcupti.so");
  return paths;
}

template <class Function>
bool find(void* library, const char* name, Function& out) {
  void* const address = ::dlsym(library, name);
  static_assert(sizeof(out) == sizeof(address));
  std::memcpy(&out, &address, sizeof(out));
  return address != nullptr;
}

Result<CuptiFunctions> functions_of(void* library, const std::string& path) {
  CuptiFunctions found;
  found.path = path;
  const bool whole = find(library, "cuptiGetVersion", found.get_version) &&
                     find(library, "cuptiActivityRegisterCallbacks", found.register_callbacks) &&
                     find(library, "cuptiActivityEnable", found.enable) &&
                     find(library, "cuptiActivityDisable", found.disable) &&
                     find(library, "cuptiActivityFlushAll", found.flush_all) &&
                     find(library, "cuptiActivityGetNextRecord", found.next_record) &&
                     find(library, "cuptiGetTimestamp", found.timestamp);
  if (!whole) return fail(ErrorCode::kNotSupported, "{} lacks functions of CUPTI", path);
  find(library, "cuptiActivityGetNumDroppedRecords", found.dropped);
  find(library, "cuptiActivityEnableRuntimeApi", found.enable_runtime_call);
  find(library, "cuptiActivityEnableDriverApi", found.enable_driver_call);
  find(library, "cuptiSetThreadIdType", found.set_thread_id_type);
  if (found.get_version(&found.version) != cupti::Code::kSuccess) found.version = 0;
  return found;
}

}  // namespace

Result<CuptiFunctions> find_cupti() {
  Loaded loaded;
  ::dl_iterate_phdr(look_at, &loaded);
  std::string why = "none is in the process or in the search path";
  for (const std::string& path : candidates(loaded)) {
    // Never closed again: CUPTI cannot be.
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return functions_of(library, path);
    if (const char* message = ::dlerror();
        message != nullptr && path.find('/') != std::string::npos) {
      why = message;
    }
  }
  return fail(ErrorCode::kNotFound, "no CUPTI: {}", why);
}

}  // namespace unstarve::recording
