#include "emulated/context/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <map>
#include <unordered_map>

#include "base/mutex.h"

namespace unstarve::emulated {
namespace {

struct Memory {
  int gpu = -1;
  std::size_t bytes = 0;
  int holders = 1;
  int mappings = 0;
  bool counted = true;  // false: another process's, which counts it
};

struct Mapping {
  std::size_t bytes = 0;
  std::uint64_t handle = 0;
};

/// Neighbouring mappings of one GPU, which are one range to a copy that spans them.
struct Run {
  std::size_t bytes = 0;
  int gpu = -1;
};

struct Mapped {
  Mutex mutex;
  std::map<std::uintptr_t, Run> runs UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<std::uint64_t, Memory> memory UNSTARVE_GUARDED_BY(mutex);
  std::map<std::uintptr_t, std::size_t> reserved UNSTARVE_GUARDED_BY(mutex);
  std::map<std::uintptr_t, Mapping> mappings UNSTARVE_GUARDED_BY(mutex);
  std::uint64_t next_handle UNSTARVE_GUARDED_BY(mutex) = 1;
};

Mapped& mapped() {
  static auto* const all = new Mapped;  // never destroyed: tensors are freed while a process ends
  return *all;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool is_granular(std::size_t bytes) { return bytes != 0 && bytes % kMappingGranularity == 0; }

void give_back_if_unused(Mapped& all, std::uint64_t handle) UNSTARVE_REQUIRES(all.mutex) {
  const auto found = all.memory.find(handle);
  if (found == all.memory.end()) return;
  const Memory& memory = found->second;
  if (memory.holders > 0 || memory.mappings > 0) return;
  if (memory.counted) gpu_at(memory.gpu)->give_memory(memory.bytes);
  all.memory.erase(found);
}

bool is_reserved(const Mapped& all, std::uintptr_t begin, std::size_t bytes)
    UNSTARVE_REQUIRES(all.mutex) {
  auto next = all.reserved.upper_bound(begin);
  if (next == all.reserved.begin()) return false;
  const auto& [base, size] = *std::prev(next);
  return begin + bytes <= base + size;
}

bool is_free(const Mapped& all, std::uintptr_t begin, std::size_t bytes)
    UNSTARVE_REQUIRES(all.mutex) {
  const auto next = all.mappings.lower_bound(begin);
  if (next != all.mappings.end() && next->first < begin + bytes) return false;
  if (next == all.mappings.begin()) return true;
  const auto& [base, before] = *std::prev(next);
  return base + before.bytes <= begin;
}

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

Outcome know_run(Mapped& all, std::uintptr_t begin, const Run& run) UNSTARVE_REQUIRES(all.mutex) {
  if (run.bytes == 0) return Outcome::kSuccess;
  const Outcome outcome = gpu_at(run.gpu)->know_range(pointer(begin), run.bytes);
  if (outcome == Outcome::kSuccess) all.runs[begin] = run;
  return outcome;
}

void forget_run(Mapped& all, std::map<std::uintptr_t, Run>::iterator run)
    UNSTARVE_REQUIRES(all.mutex) {
  static_cast<void>(gpu_at(run->second.gpu)->forget_range(pointer(run->first)));
  all.runs.erase(run);
}

/// [begin, begin + bytes) becomes a run, or part of those beside it.
Outcome add_to_runs(Mapped& all, std::uintptr_t begin, std::size_t bytes, int gpu)
    UNSTARVE_REQUIRES(all.mutex) {
  std::uintptr_t first = begin;
  std::uintptr_t end = begin + bytes;
  auto next = all.runs.lower_bound(begin);
  if (next != all.runs.end() && next->first == end && next->second.gpu == gpu) {
    end += next->second.bytes;
    const auto right = next++;
    forget_run(all, right);
  }
  if (next != all.runs.begin()) {
    const auto left = std::prev(next);
    if (left->first + left->second.bytes == begin && left->second.gpu == gpu) {
      first = left->first;
      forget_run(all, left);
    }
  }
  return know_run(all, first, {end - first, gpu});
}

/// What is left of the run that holds [begin, begin + bytes) stays known.
Outcome take_from_runs(Mapped& all, std::uintptr_t begin, std::size_t bytes)
    UNSTARVE_REQUIRES(all.mutex) {
  const auto next = all.runs.upper_bound(begin);
  if (next == all.runs.begin()) return Outcome::kInvalidValue;
  const auto run = std::prev(next);
  const std::uintptr_t first = run->first;
  const std::uintptr_t end = first + run->second.bytes;
  const int gpu = run->second.gpu;
  forget_run(all, run);
  const Outcome left = know_run(all, first, {begin - first, gpu});
  const Outcome right = know_run(all, begin + bytes, {end - begin - bytes, gpu});
  return left != Outcome::kSuccess ? left : right;
}

// What a file descriptor of exported memory holds.
struct Exported {
  char magic[8] = {'u', 'n', 's', 't', 'a', 'r', 'v', 'e'};
  std::int64_t machine_index = -1;
  std::uint64_t bytes = 0;
};

}  // namespace

Outcome create_memory(Gpu& gpu, std::size_t bytes, std::uint64_t* handle) {
  if (handle == nullptr || !is_granular(bytes)) return Outcome::kInvalidValue;
  const Outcome taken = gpu.take_memory(bytes);
  if (taken != Outcome::kSuccess) return taken;
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  *handle = all.next_handle++;
  all.memory[*handle] = {gpu.index(), bytes};
  return Outcome::kSuccess;
}

Outcome release_memory(std::uint64_t handle) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const auto found = all.memory.find(handle);
  if (found == all.memory.end() || found->second.holders == 0) return Outcome::kInvalidValue;
  --found->second.holders;
  give_back_if_unused(all, handle);
  return Outcome::kSuccess;
}

Outcome retain_memory_at(const void* address, std::uint64_t* handle) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  auto next = all.mappings.upper_bound(number(address));
  if (handle == nullptr || next == all.mappings.begin()) return Outcome::kInvalidValue;
  const auto& [base, mapping] = *std::prev(next);
  if (number(address) >= base + mapping.bytes) return Outcome::kInvalidValue;
  *handle = mapping.handle;
  ++all.memory[mapping.handle].holders;
  return Outcome::kSuccess;
}

Outcome describe_memory(std::uint64_t handle, MemoryFacts* out) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const auto found = all.memory.find(handle);
  if (found == all.memory.end()) return Outcome::kInvalidValue;
  *out = {found->second.gpu, found->second.bytes};
  return Outcome::kSuccess;
}

Outcome export_memory(std::uint64_t handle, int* descriptor) {
  MemoryFacts facts;
  const Outcome known = describe_memory(handle, &facts);
  if (known != Outcome::kSuccess || descriptor == nullptr) return Outcome::kInvalidValue;
  Exported text;
  text.machine_index = gpu_at(facts.gpu)->machine_index();
  text.bytes = facts.bytes;
  const int file = ::memfd_create("unstarve-emulated-memory", MFD_CLOEXEC);
  if (file < 0) return Outcome::kOperatingSystem;
  if (::pwrite(file, &text, sizeof text, 0) != static_cast<ssize_t>(sizeof text)) {
    ::close(file);
    return Outcome::kOperatingSystem;
  }
  *descriptor = file;
  return Outcome::kSuccess;
}

Outcome import_memory(int descriptor, std::uint64_t* handle) {
  Exported text;
  const bool read = ::pread(descriptor, &text, sizeof text, 0) == static_cast<ssize_t>(sizeof text);
  if (!read || handle == nullptr || std::memcmp(text.magic, Exported().magic, 8) != 0 ||
      !is_granular(text.bytes)) {
    return Outcome::kInvalidValue;
  }
  for (int i = 0; i < gpu_count(); ++i) {
    if (gpu_at(i)->machine_index() != text.machine_index) continue;
    Mapped& all = mapped();
    const MutexLock lock(all.mutex);
    *handle = all.next_handle++;
    all.memory[*handle] = {i, text.bytes, 1, 0, false};
    return Outcome::kSuccess;
  }
  return Outcome::kInvalidDevice;
}

Outcome reserve_addresses(std::size_t bytes, std::size_t alignment, void** out) {
  const std::size_t aligned = alignment > kMappingGranularity ? alignment : kMappingGranularity;
  const bool power_of_two = (aligned & (aligned - 1)) == 0;
  if (out == nullptr || !is_granular(bytes) || !power_of_two) return Outcome::kInvalidValue;
  void* const wide = ::mmap(nullptr, bytes + aligned, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (wide == MAP_FAILED) return Outcome::kOutOfMemory;
  const std::uintptr_t begin = (number(wide) + aligned - 1) / aligned * aligned;
  const std::size_t before = begin - number(wide);
  if (before != 0) ::munmap(wide, before);
  ::munmap(reinterpret_cast<void*>(begin + bytes), aligned - before);
  *out = reinterpret_cast<void*>(begin);
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  all.reserved[begin] = bytes;
  return Outcome::kSuccess;
}

Outcome free_addresses(void* address, std::size_t bytes) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const auto found = all.reserved.find(number(address));
  if (found == all.reserved.end() || found->second != bytes ||
      !is_free(all, number(address), bytes)) {
    return Outcome::kInvalidValue;
  }
  all.reserved.erase(found);
  ::munmap(address, bytes);
  return Outcome::kSuccess;
}

Outcome map_memory(void* address, std::size_t bytes, std::size_t offset, std::uint64_t handle) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const auto memory = all.memory.find(handle);
  const bool fits = memory != all.memory.end() && is_granular(bytes) &&
                    number(address) % kMappingGranularity == 0 && offset == 0 &&
                    bytes <= memory->second.bytes;
  if (!fits || !is_reserved(all, number(address), bytes) || !is_free(all, number(address), bytes)) {
    return Outcome::kInvalidValue;
  }
  const Outcome known = add_to_runs(all, number(address), bytes, memory->second.gpu);
  if (known != Outcome::kSuccess) return known;
  ++memory->second.mappings;
  all.mappings[number(address)] = {bytes, handle};
  return Outcome::kSuccess;
}

Outcome unmap_memory(void* address, std::size_t bytes) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const std::uintptr_t end = number(address) + bytes;
  auto mapping = all.mappings.lower_bound(number(address));
  if (mapping == all.mappings.end() || mapping->first >= end) return Outcome::kInvalidValue;
  while (mapping != all.mappings.end() && mapping->first + mapping->second.bytes <= end) {
    const std::uint64_t handle = mapping->second.handle;
    Memory& memory = all.memory[handle];
    const Outcome forgotten = take_from_runs(all, mapping->first, mapping->second.bytes);
    if (forgotten != Outcome::kSuccess) return forgotten;
    mapping = all.mappings.erase(mapping);
    --memory.mappings;
    give_back_if_unused(all, handle);
  }
  return Outcome::kSuccess;
}

bool is_mapped(const void* address, std::size_t bytes) {
  Mapped& all = mapped();
  const MutexLock lock(all.mutex);
  const std::uintptr_t end = number(address) + bytes;
  auto next = all.mappings.upper_bound(number(address));
  if (next == all.mappings.begin()) return false;
  std::uintptr_t at = number(address);
  for (auto mapping = std::prev(next); at < end; ++mapping) {
    if (mapping == all.mappings.end() || mapping->first > at) return false;
    const std::uintptr_t mapping_end = mapping->first + mapping->second.bytes;
    if (mapping_end <= at) return false;
    at = mapping_end;
  }
  return true;
}

}  // namespace unstarve::emulated
