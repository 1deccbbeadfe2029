#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "emulated/process/objects.h"

// Importing torch registers tens of thousands of kernels and looks some of them up at each launch:
// they lie in large blocks, so that an address is known to be a kernel's without a table.
namespace unstarve::emulated {

namespace {

constexpr std::size_t kBlockKernels = 4096;
constexpr std::size_t kBlocksMax = 4096;
constexpr std::size_t kNameBlockBytes = 1 << 20;

class Kernels {
 public:
  Kernel* add(const char* name) UNSTARVE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const std::size_t block = count_ / kBlockKernels;
    if (block == kBlocksMax) return nullptr;
    if (count_ % kBlockKernels == 0) {
      blocks_[block].store(new Kernel[kBlockKernels], std::memory_order_release);
    }
    Kernel* kernel = &blocks_[block].load()[count_ % kBlockKernels];
    kernel->name = copy_name(name);
    ++count_;
    return kernel;
  }

  Kernel* find(const void* handle) const {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    for (const std::atomic<Kernel*>& block : blocks_) {
      Kernel* first = block.load(std::memory_order_acquire);
      if (first == nullptr) return nullptr;
      const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(first);
      if (offset >= kBlockKernels * sizeof(Kernel)) continue;
      if (offset % sizeof(Kernel) != 0) return nullptr;
      Kernel* kernel = first + offset / sizeof(Kernel);
      return kernel->name != nullptr ? kernel : nullptr;
    }
    return nullptr;
  }

 private:
  const char* copy_name(const char* name) UNSTARVE_REQUIRES(mutex_) {
    if (name == nullptr) name = "?";
    const std::size_t bytes = std::strlen(name) + 1;
    if (bytes > names_left_) {
      names_left_ = std::max(bytes, kNameBlockBytes);
      names_ = new char[names_left_];
    }
    char* copy = names_;
    std::memcpy(copy, name, bytes);
    names_ += bytes;
    names_left_ -= bytes;
    return copy;
  }

  Mutex mutex_;
  std::size_t count_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::array<std::atomic<Kernel*>, kBlocksMax> blocks_ = {};
  char* names_ UNSTARVE_GUARDED_BY(mutex_) = nullptr;
  std::size_t names_left_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

Kernels& kernels() {
  static auto* all = new Kernels;  // never destroyed, as what it holds
  return *all;
}

}  // namespace

Kernel* register_kernel(const char* name) { return kernels().add(name); }
const char* name_of(const Kernel* kernel) { return kernel->name; }
Kernel* find_kernel(const void* handle) { return kernels().find(handle); }

}  // namespace unstarve::emulated
