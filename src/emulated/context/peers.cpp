#include "emulated/context/peers.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "emulated/context/mapped_memory.h"

namespace unstarve::emulated {
namespace {

struct Opened {
  int gpu = -1;
  std::size_t bytes = 0;
};

struct Peers {
  Mutex mutex;
  std::set<std::pair<int, int>> enabled UNSTARVE_GUARDED_BY(mutex);
  std::map<void*, Opened> opened UNSTARVE_GUARDED_BY(mutex);
};

Peers& peers() {
  static auto* const all = new Peers;  // never destroyed: tensors are freed while a process ends
  return *all;
}

bool are_two_gpus(int from, int to) {
  return from != to && gpu_at(from) != nullptr && gpu_at(to) != nullptr;
}

// What the 64 bytes of a handle are.
struct Shared {
  char magic[8];  // "unstarvM" or "unstarvE"
  std::int64_t process;
  std::uint64_t id;
  std::uint64_t bytes;
};
static_assert(sizeof(Shared) <= sizeof(cuda::IpcHandle));

constexpr char kMemoryMagic[] = "unstarvM";
constexpr char kEventMagic[] = "unstarvE";

void write(cuda::IpcHandle* out, const char* magic, std::uint64_t id, std::uint64_t bytes) {
  Shared shared = {{}, ::getpid(), id, bytes};
  std::memcpy(shared.magic, magic, sizeof shared.magic);
  *out = {};
  std::memcpy(out->bytes, &shared, sizeof shared);
}

bool read(const cuda::IpcHandle& handle, const char* magic, Shared* out) {
  std::memcpy(out, handle.bytes, sizeof *out);
  return std::memcmp(out->magic, magic, sizeof out->magic) == 0;
}

std::size_t whole_pages(std::uint64_t bytes) {
  return (bytes + kMappingGranularity - 1) / kMappingGranularity * kMappingGranularity;
}

}  // namespace

bool can_access_peer(int from, int to) { return are_two_gpus(from, to); }

Outcome enable_peer_access(int from, int to) {
  if (!are_two_gpus(from, to)) return Outcome::kInvalidDevice;
  const MutexLock lock(peers().mutex);
  return peers().enabled.insert({from, to}).second ? Outcome::kSuccess
                                                   : Outcome::kPeerAccessAlreadyEnabled;
}

Outcome disable_peer_access(int from, int to) {
  if (!are_two_gpus(from, to)) return Outcome::kInvalidDevice;
  const MutexLock lock(peers().mutex);
  return peers().enabled.erase({from, to}) != 0 ? Outcome::kSuccess
                                                : Outcome::kPeerAccessNotEnabled;
}

Outcome share_memory(const void* address, cuda::IpcHandle* out) {
  const Allocation known = find_allocation(address);
  if (out == nullptr || known.place != MemoryPlace::kDevice) return Outcome::kInvalidValue;
  write(out, kMemoryMagic, known.id, known.bytes);
  return Outcome::kSuccess;
}

Outcome open_shared_memory(Gpu& gpu, const cuda::IpcHandle& handle, void** out) {
  Shared shared;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44U;
  if (out == nullptr || !read(handle, kMemoryMagic, &shared) || shared.bytes == 0 ||
      shared.bytes > kMostBytes) {
    return Outcome::kInvalidValue;
  }
  void* address = nullptr;
  const std::size_t bytes = whole_pages(shared.bytes);
  Outcome outcome = reserve_addresses(bytes, 0, &address);
  if (outcome != Outcome::kSuccess) return outcome;
  outcome = gpu.know_range(address, shared.bytes);
  if (outcome != Outcome::kSuccess) {
    static_cast<void>(free_addresses(address, bytes));
    return outcome;
  }
  const MutexLock lock(peers().mutex);
  peers().opened[address] = {gpu.index(), bytes};
  *out = address;
  return Outcome::kSuccess;
}

Outcome close_shared_memory(void* address) {
  Opened opened;
  {
    const MutexLock lock(peers().mutex);
    const auto found = peers().opened.find(address);
    if (found == peers().opened.end()) return Outcome::kInvalidValue;
    opened = found->second;
    peers().opened.erase(found);
  }
  const Outcome forgotten = gpu_at(opened.gpu)->forget_range(address);
  return forgotten == Outcome::kSuccess ? free_addresses(address, opened.bytes) : forgotten;
}

Outcome share_event(const Event* event, cuda::IpcHandle* out) {
  if (out == nullptr) return Outcome::kInvalidValue;
  write(out, kEventMagic, reinterpret_cast<std::uintptr_t>(event), 0);
  return Outcome::kSuccess;
}

Outcome open_shared_event(const cuda::IpcHandle& handle, Event** out) {
  Shared shared;
  if (out == nullptr || !read(handle, kEventMagic, &shared)) return Outcome::kInvalidValue;
  return create_event(false, false, out);
}

}  // namespace unstarve::emulated
