#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "emulated/engine/address_map.h"
#include "emulated/engine/kept_bytes.h"
#include "emulated/engine/memory_account.h"
#include "emulated/process/objects.h"

namespace unstarve::emulated {

/// The memory that the process's GPUs know: theirs, which is address space alone, and what of the
/// host's is pinned, which is real.
/// Thread rule: any thread; nothing here takes another lock.
class ProcessMemory {
 public:
  /// Whose the bytes are: mapped here, or by the program (cudaHostRegister, cuMemMap).
  enum class Owner : std::uint8_t { kUs, kProgram };

  explicit ProcessMemory(int gpus) : gpus_(static_cast<std::size_t>(gpus)) {}

  /// `limit_bytes`: how much of the GPU this process may have in all.
  Outcome allocate(int gpu, MemoryPlace place, std::size_t bytes, std::uint64_t limit_bytes,
                   void** out) UNSTARVE_EXCLUDES(mutex_);
  /// Memory that the program mapped. False: some of it is known already.
  bool add(const Allocation& allocation) UNSTARVE_EXCLUDES(mutex_);
  /// What begins at `address`, if it is `owner`'s and on a device or not; it is unmapped if it was
  /// ours.
  std::optional<Allocation> remove(const void* address, bool device, Owner owner)
      UNSTARVE_EXCLUDES(mutex_);
  /// All that we mapped on a device.
  void remove_all(int gpu) UNSTARVE_EXCLUDES(mutex_);
  bool take(int gpu, std::uint64_t bytes, std::uint64_t limit_bytes) UNSTARVE_EXCLUDES(mutex_);
  void give(int gpu, std::uint64_t bytes) UNSTARVE_EXCLUDES(mutex_);
  std::uint64_t used_bytes(int gpu) const UNSTARVE_EXCLUDES(mutex_);
  Allocation find(const void* address) const UNSTARVE_EXCLUDES(mutex_);

  /// What a copy or a fill does to bytes that are known, and to those of the host: a copy to the
  /// host gives zeros, and what is known there in land().
  void apply(const DataEffect& effect) UNSTARVE_EXCLUDES(mutex_);
  /// What is known of a copy's source on a device, for its target on the host, at its end; nullptr:
  /// nothing.
  std::shared_ptr<Landing> landing_of(const Copy2d& copy) UNSTARVE_EXCLUDES(mutex_);
  /// A kernel, or the work of a library.
  void ran(int gpu) UNSTARVE_EXCLUDES(mutex_);
  std::size_t read_kept(const void* address, void* target, std::size_t bytes)
      UNSTARVE_EXCLUDES(mutex_);
  std::vector<KeptPiece> kept_pieces(const void* address, std::size_t bytes)
      UNSTARVE_EXCLUDES(mutex_);
  void write_kept(void* address, const void* source, std::size_t bytes) UNSTARVE_EXCLUDES(mutex_);
  void write_kept(void* address, LateBytes bytes) UNSTARVE_EXCLUDES(mutex_);
  void forget_at(int gpu, const std::vector<std::uintptr_t>& addresses) UNSTARVE_EXCLUDES(mutex_);
  void keep_more(const KeptBytes::Limits& limits) UNSTARVE_EXCLUDES(mutex_);
  /// Whether the process talks with others (keep_more()) and something of this GPU is known.
  bool talks_of(int gpu) const {
    return talks_.load(std::memory_order_relaxed) &&
           gpus_[static_cast<std::size_t>(gpu)].has_kept.load(std::memory_order_acquire);
  }

 private:
  struct Entry {
    Allocation allocation;
    Owner owner = Owner::kUs;
  };
  /// A row of a copy or a fill.
  struct Row {
    const Allocation& source;
    const Allocation& target;
    const DataEffect& effect;
    const char* from = nullptr;
    char* to = nullptr;
    std::size_t bytes = 0;
    std::size_t bytes_in_all = 0;  // of the whole copy
  };
  struct GpuMemory {
    MemoryAccount account;
    KeptBytes kept;
    std::atomic<bool> has_kept{false};  // read without the lock: most work finds nothing to forget
  };
  GpuMemory& at(int gpu) { return gpus_[static_cast<std::size_t>(gpu)]; }
  Allocation locate(const void* address) const UNSTARVE_REQUIRES(mutex_);
  bool insert(const Allocation& allocation, Owner owner) UNSTARVE_EXCLUDES(mutex_);
  /// Runs `change` on what is kept of a GPU.
  template <class Change>
  void change_kept(int gpu, Change change) UNSTARVE_EXCLUDES(mutex_);
  void apply_row(const Row& row) UNSTARVE_EXCLUDES(mutex_);
  void copy_on_device(const Row& row) UNSTARVE_EXCLUDES(mutex_);

  std::atomic<bool> talks_{false};
  mutable Mutex mutex_;
  AddressMap<Entry> map_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t last_id_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::deque<GpuMemory> gpus_;  // but for has_kept guarded by the mutex
};

}  // namespace unstarve::emulated
