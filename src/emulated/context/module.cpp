#include "emulated/context/module.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/mutex.h"
#include "emulated/context/context.h"
#include "emulated/context/device_facts.h"

namespace unstarve::emulated {

class Module {
 public:
  Mutex mutex;
  std::unordered_map<std::string, Kernel*> kernels UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<std::string, void*> variables UNSTARVE_GUARDED_BY(mutex);
};

namespace {

constexpr std::size_t kVariableBytes = 65536;

/// All modules, and what is known of kernels beside their name.
struct Registry {
  Mutex mutex;
  std::unordered_set<const void*> modules UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<const Kernel*, Module*> origins UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<const Kernel*, KernelFacts> facts UNSTARVE_GUARDED_BY(mutex);
  std::atomic<bool> has_facts{false};
};

Registry& registry() {
  static auto* const all = new Registry;  // never destroyed: used while the process ends
  return *all;
}

bool is_image(const void* image) {
  // PTX is text; cubins are ELF; fat binaries begin with a number of their own.
  return image != nullptr && *static_cast<const unsigned char*>(image) != 0;
}

void make_module(Module** out) {
  *out = new Module;
  const MutexLock lock(registry().mutex);
  registry().modules.insert(*out);
}

bool within(const cuda::Dim3& shape, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return shape.x != 0 && shape.y != 0 && shape.z != 0 && shape.x <= x && shape.y <= y &&
         shape.z <= z;
}

std::uint64_t product(const cuda::Dim3& shape) {
  return static_cast<std::uint64_t>(shape.x) * shape.y * shape.z;
}

Outcome check_launch(const Gpu& gpu, const Kernel* kernel, const LaunchShape& shape) {
  if (!within(shape.grid, kMaxGridDimX, kMaxGridDimYz, kMaxGridDimYz) ||
      !within(shape.block, kMaxThreadsPerBlock, kMaxThreadsPerBlock, kMaxBlockDimZ) ||
      product(shape.block) > kMaxThreadsPerBlock) {
    return Outcome::kInvalidConfiguration;
  }
  // 48 KiB need no permission; beyond it the kernel's own bound counts.
  if (shape.shared_bytes > 49152) {
    const auto bound = static_cast<std::size_t>(facts_of(kernel).max_dynamic_shared_bytes);
    if (shape.shared_bytes > bound) return Outcome::kInvalidValue;
  }
  if (!shape.cooperative) return Outcome::kSuccess;
  const auto threads = static_cast<int>(product(shape.block));
  const auto room =
      static_cast<std::uint64_t>(gpu.profile().multiprocessors) *
      static_cast<std::uint64_t>(resident_blocks(gpu, kernel, threads, shape.shared_bytes));
  return product(shape.grid) <= room ? Outcome::kSuccess : Outcome::kCooperativeLaunchTooLarge;
}

}  // namespace

Outcome load_module(const void* image, Module** out) {
  if (out == nullptr || image == nullptr) return Outcome::kInvalidValue;
  if (!is_image(image)) return Outcome::kInvalidImage;
  make_module(out);
  return Outcome::kSuccess;
}

Outcome load_module_file(const char* path, Module** out) {
  if (out == nullptr || path == nullptr) return Outcome::kInvalidValue;
  if (::access(path, R_OK) != 0) return Outcome::kFileNotFound;
  make_module(out);
  return Outcome::kSuccess;
}

Module* find_module(const void* handle) {
  const MutexLock lock(registry().mutex);
  const bool known = registry().modules.count(handle) != 0;
  return known ? static_cast<Module*>(const_cast<void*>(handle)) : nullptr;
}

Outcome unload_module(Module* module) {
  // Kernels live for ever, so what was launched keeps its name; the module's own memory stays too,
  // lest a handle that is used once more points at something else.
  std::unordered_map<std::string, void*> variables;
  {
    const MutexLock lock(module->mutex);
    variables.swap(module->variables);
  }
  for (const auto& [name, address] : variables) {
    Gpu* const gpu = gpu_at(find_allocation(address).gpu);
    if (gpu != nullptr) static_cast<void>(gpu->free(address));
  }
  const MutexLock lock(registry().mutex);
  registry().modules.erase(module);
  return Outcome::kSuccess;
}

Outcome find_in_module(Module* module, const char* name, Kernel** out) {
  if (name == nullptr || out == nullptr || *name == '\0') return Outcome::kInvalidValue;
  const MutexLock lock(module->mutex);
  auto [entry, is_new] = module->kernels.try_emplace(name, nullptr);
  if (is_new) {
    entry->second = register_kernel(entry->first.c_str());
    const MutexLock registry_lock(registry().mutex);
    registry().origins[entry->second] = module;
  }
  *out = entry->second;
  return Outcome::kSuccess;
}

Outcome find_variable(Module* module, const char* name, void** address, std::size_t* bytes) {
  if (name == nullptr) return Outcome::kInvalidValue;
  Outcome why = Outcome::kSuccess;
  Gpu* const gpu = runtime_gpu(&why);
  if (gpu == nullptr) return why;
  const MutexLock lock(module->mutex);
  void*& variable = module->variables[name];
  if (variable == nullptr) why = gpu->allocate(kVariableBytes, MemoryPlace::kDevice, &variable);
  if (why != Outcome::kSuccess) return why;
  if (address != nullptr) *address = variable;
  if (bytes != nullptr) *bytes = kVariableBytes;
  return Outcome::kSuccess;
}

Module* module_of(const Kernel* kernel) {
  const MutexLock lock(registry().mutex);
  const auto found = registry().origins.find(kernel);
  return found != registry().origins.end() ? found->second : nullptr;
}

KernelFacts facts_of(const Kernel* kernel) {
  if (!registry().has_facts.load(std::memory_order_acquire)) return {};
  const MutexLock lock(registry().mutex);
  const auto found = registry().facts.find(kernel);
  return found != registry().facts.end() ? found->second : KernelFacts{};
}

Outcome set_max_dynamic_shared_bytes(const Gpu& gpu, const Kernel* kernel, int bytes) {
  if (bytes < 0 || bytes > gpu.profile().shared_memory_per_block_optin) {
    return Outcome::kInvalidValue;
  }
  const MutexLock lock(registry().mutex);
  registry().facts[kernel].max_dynamic_shared_bytes = bytes;
  registry().has_facts.store(true, std::memory_order_release);
  return Outcome::kSuccess;
}

void set_preferred_carveout(const Kernel* kernel, int percent) {
  const MutexLock lock(registry().mutex);
  registry().facts[kernel].preferred_shared_carveout = percent;
  registry().has_facts.store(true, std::memory_order_release);
}

Outcome launch_kernel(Stream* stream, const Kernel* kernel, const LaunchShape& shape) {
  Gpu& gpu = *gpu_of(stream);
  const Outcome fits = check_launch(gpu, kernel, shape);
  if (fits != Outcome::kSuccess) return fits;
  Launch launch;
  const char* const name = name_of(kernel);
  launch.work.name = name != nullptr ? std::string_view(name) : std::string_view();
  launch.work.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  launch.work.block = {shape.block.x, shape.block.y, shape.block.z};
  launch.work.shared_memory_bytes = static_cast<std::uint32_t>(shape.shared_bytes);
  launch.work.arguments = shape.arguments;
  launch.cooperative = shape.cooperative;
  return gpu.launch(stream, kernel, launch);
}

int resident_blocks(const Gpu& gpu, const Kernel* kernel, int block_threads,
                    std::size_t shared_bytes) {
  if (block_threads <= 0 || block_threads > kMaxThreadsPerBlock) return 0;
  const Profile& profile = gpu.profile();
  const int threads = (block_threads + 31) / 32 * 32;  // whole warps
  int blocks = std::min(profile.max_threads_per_multiprocessor / threads,
                        profile.max_blocks_per_multiprocessor);
  blocks = std::min(blocks, kRegistersPerBlock / (facts_of(kernel).registers * threads));
  const std::size_t shared = shared_bytes + kReservedSharedBytes;
  const auto room = static_cast<std::size_t>(profile.shared_memory_per_multiprocessor);
  return std::min(blocks, static_cast<int>(room / shared));
}

}  // namespace unstarve::emulated
