#include "device/emulated/pinned_pages.h"

#include <cstdint>
#include <cstdlib>
#include <map>

#include "base/mutex.h"

namespace unstarve::device::emulated {
namespace {

constexpr std::size_t kPage = 4096;

struct Ranges {
  Mutex mutex;
  std::map<std::uintptr_t, std::size_t> bytes UNSTARVE_GUARDED_BY(mutex);  // by first address
};

Ranges& ranges() {
  static Ranges* const all = new Ranges;  // never destroyed: memory is given back until the end
  return *all;
}

}  // namespace

Result<void*> PinnedPages::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, whole);
  if (memory == nullptr) {
    return fail(ErrorCode::kOutOfMemory, "no memory for {} bytes that count as pinned", bytes);
  }
  Ranges& all = ranges();
  MutexLock lock(all.mutex);
  all.bytes[reinterpret_cast<std::uintptr_t>(memory)] = whole;
  return memory;
}

void PinnedPages::release(void* memory) noexcept {
  Ranges& all = ranges();
  {
    MutexLock lock(all.mutex);
    all.bytes.erase(reinterpret_cast<std::uintptr_t>(memory));
  }
  std::free(memory);
}

bool is_pinned(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Ranges& all = ranges();
  MutexLock lock(all.mutex);
  auto behind = all.bytes.upper_bound(at);
  if (behind == all.bytes.begin()) return false;
  --behind;
  return at - behind->first < behind->second;
}

}  // namespace unstarve::device::emulated
