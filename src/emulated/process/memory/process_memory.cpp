#include "emulated/process/memory/process_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace unstarve::emulated {

namespace {

constexpr std::size_t kSmallPageBytes = 4096;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Address space alone, aligned as the driver's; nullptr: there is none.
void* map_device(std::size_t bytes) {
  const std::size_t alignment =
      bytes >= MemoryAccount::kLargeBytes ? MemoryAccount::kPageBytes : kSmallPageBytes;
  const std::size_t wanted = rounded(bytes, kSmallPageBytes);
  if (wanted < bytes || wanted + alignment < wanted) return nullptr;
  void* memory = ::mmap(nullptr, wanted + alignment, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* first = static_cast<char*>(memory);
  const std::size_t before = rounded(number_of(first), alignment) - number_of(first);
  if (before > 0) ::munmap(first, before);
  if (before < alignment) ::munmap(first + before + wanted, alignment - before);
  ::madvise(first + before, wanted, MADV_DONTFORK);
  return first + before;
}

/// Pinned memory is resident: its pages are paid for here, as by the driver.
void* map_pinned(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes, kSmallPageBytes);
  if (wanted < bytes) return nullptr;
  void* memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Its bytes are real: the host may look at them.
bool is_real(const Allocation& allocation) { return allocation.place != MemoryPlace::kDevice; }

}  // namespace

Outcome ProcessMemory::allocate(int gpu, MemoryPlace place, std::size_t bytes,
                                std::uint64_t limit_bytes, void** out) {
  const bool pinned = place == MemoryPlace::kPinnedHost;
  if (!pinned && !take(gpu, bytes, limit_bytes)) return Outcome::kOutOfMemory;
  void* memory = pinned ? map_pinned(bytes) : map_device(bytes);
  if (memory == nullptr) {
    if (!pinned) give(gpu, bytes);
    return Outcome::kOutOfMemory;
  }
  *out = memory;
  insert({.place = place, .base = number_of(memory), .bytes = bytes, .gpu = gpu}, Owner::kUs);
  return Outcome::kSuccess;
}

bool ProcessMemory::add(const Allocation& allocation) {
  return insert(allocation, Owner::kProgram);
}

bool ProcessMemory::insert(const Allocation& allocation, Owner owner) {
  MutexLock lock(mutex_);
  Entry entry{allocation, owner};
  entry.allocation.id = ++last_id_;
  return map_.add(allocation.base, allocation.bytes, entry);
}

std::optional<Allocation> ProcessMemory::remove(const void* address, bool device, Owner owner) {
  Allocation removed;
  {
    MutexLock lock(mutex_);
    const auto* range = map_.find(number_of(address));
    if (range == nullptr || range->base != number_of(address) || range->value.owner != owner ||
        on_device(range->value.allocation) != device) {
      return std::nullopt;
    }
    removed = range->value.allocation;
    map_.remove(removed.base);
    if (device) at(removed.gpu).kept.forget(removed.base, removed.bytes);
    if (device && owner == Owner::kUs) at(removed.gpu).account.give(removed.bytes);
  }
  if (owner == Owner::kUs) {
    ::munmap(reinterpret_cast<void*>(removed.base), rounded(removed.bytes, kSmallPageBytes));
  }
  return removed;
}

void ProcessMemory::remove_all(int gpu) {
  std::vector<AddressMap<Entry>::Range> removed;
  {
    MutexLock lock(mutex_);
    removed = map_.remove_if([gpu](const Entry& entry) {
      return entry.owner == Owner::kUs && on_device(entry.allocation) &&
             entry.allocation.gpu == gpu;
    });
    for (const auto& range : removed) at(gpu).account.give(range.bytes);
    at(gpu).kept.forget(0, UINTPTR_MAX);
  }
  for (const auto& range : removed) {
    ::munmap(reinterpret_cast<void*>(range.base), rounded(range.bytes, kSmallPageBytes));
  }
}

bool ProcessMemory::take(int gpu, std::uint64_t bytes, std::uint64_t limit_bytes) {
  MutexLock lock(mutex_);
  return at(gpu).account.take(bytes, limit_bytes);
}

void ProcessMemory::give(int gpu, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  at(gpu).account.give(bytes);
}

std::uint64_t ProcessMemory::used_bytes(int gpu) const {
  MutexLock lock(mutex_);
  return gpus_[static_cast<std::size_t>(gpu)].account.used_bytes();
}

Allocation ProcessMemory::locate(const void* address) const {
  const auto* range = map_.find(number_of(address));
  return range != nullptr ? range->value.allocation : Allocation{};
}

Allocation ProcessMemory::find(const void* address) const {
  MutexLock lock(mutex_);
  return locate(address);
}

template <class Change>
void ProcessMemory::change_kept(int gpu, Change change) {
  GpuMemory& memory = at(gpu);
  MutexLock lock(mutex_);
  change(memory.kept);
  memory.has_kept.store(!memory.kept.empty(), std::memory_order_release);
}

void ProcessMemory::ran(int gpu) {
  if (!at(gpu).has_kept.load(std::memory_order_acquire)) return;
  change_kept(gpu, [](KeptBytes& kept) { kept.forget_all(); });
}

void ProcessMemory::copy_on_device(const Row& row) {
  const std::uintptr_t to = number_of(row.to);
  if (!at(row.source.gpu).has_kept.load() && !at(row.target.gpu).has_kept.load()) return;
  if (row.source.gpu == row.target.gpu) {
    change_kept(row.target.gpu, [&](KeptBytes& kept) {
      if (row.bytes_in_all > kept.bytes_max()) return kept.forget(to, row.bytes);
      kept.copy(to, number_of(row.from), row.bytes);
    });
    return;
  }
  const std::vector<KeptPiece> pieces = kept_pieces(row.from, row.bytes);
  change_kept(row.target.gpu, [&](KeptBytes& kept) {
    if (pieces.empty() || row.bytes_in_all > kept.bytes_max()) return kept.forget(to, row.bytes);
    const std::vector<unsigned char> bytes = bytes_of(pieces, row.bytes);
    kept.write(to, bytes.data(), bytes.size());
  });
}

void ProcessMemory::apply_row(const Row& row) {
  const bool fill = row.effect.kind == DataEffect::Kind::kFill;
  if (is_real(row.target)) {
    if (fill) {
      std::memset(row.to, row.effect.value, row.bytes);
    } else if (is_real(row.source)) {
      std::memmove(row.to, row.from, row.bytes);
    } else {
      std::memset(row.to, 0, row.bytes);
    }
    return;
  }
  if (!fill && !is_real(row.source)) return copy_on_device(row);
  change_kept(row.target.gpu, [&](KeptBytes& kept) {
    const std::uintptr_t to = number_of(row.to);
    if (row.bytes_in_all > kept.bytes_max()) return kept.forget(to, row.bytes);
    if (fill) return kept.fill(to, row.effect.value, row.bytes);
    kept.write(to, row.from, row.bytes);
  });
}

void ProcessMemory::apply(const DataEffect& effect) {
  if (effect.kind == DataEffect::Kind::kRan) return ran(effect.gpu);
  const Copy2d& copy = effect.copy;
  const bool fill = effect.kind == DataEffect::Kind::kFill;
  const Allocation source = fill ? Allocation{} : find(copy.source);
  const Allocation target = find(copy.target);
  for (std::size_t row = 0; row < copy.height; ++row) {
    apply_row(
        {.source = source,
         .target = target,
         .effect = effect,
         .from = fill ? nullptr : static_cast<const char*>(copy.source) + row * copy.source_pitch,
         .to = static_cast<char*>(copy.target) + row * copy.target_pitch,
         .bytes = copy.width_bytes,
         .bytes_in_all = copy.width_bytes * copy.height});
  }
}

namespace {

/// Bytes of device memory on their way to the host.
class KeptLanding final : public Landing {
 public:
  struct Piece {
    unsigned char* target = nullptr;
    KeptPiece piece;
  };
  explicit KeptLanding(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  void land() override {
    for (const Piece& each : pieces_) {
      std::memcpy(each.target, each.piece.source->data() + each.piece.offset, each.piece.bytes);
    }
  }

 private:
  std::vector<Piece> pieces_;
};

}  // namespace

std::shared_ptr<Landing> ProcessMemory::landing_of(const Copy2d& copy) {
  const Allocation source = find(copy.source);
  if (is_real(source) || !at(source.gpu).has_kept.load(std::memory_order_acquire)) return nullptr;
  std::vector<KeptLanding::Piece> pieces;
  for (std::size_t row = 0; row < copy.height; ++row) {
    const auto* from = static_cast<const char*>(copy.source) + row * copy.source_pitch;
    auto* to = static_cast<unsigned char*>(copy.target) + row * copy.target_pitch;
    for (KeptPiece& piece : kept_pieces(from, copy.width_bytes)) {
      pieces.push_back({to + piece.at, std::move(piece)});
    }
  }
  if (pieces.empty()) return nullptr;
  return std::make_shared<KeptLanding>(std::move(pieces));
}

std::vector<KeptPiece> ProcessMemory::kept_pieces(const void* address, std::size_t bytes) {
  MutexLock lock(mutex_);
  const Allocation allocation = locate(address);
  if (is_real(allocation)) return {};
  return at(allocation.gpu).kept.pieces(number_of(address), bytes);
}

std::size_t ProcessMemory::read_kept(const void* address, void* target, std::size_t bytes) {
  std::memset(target, 0, bytes);
  MutexLock lock(mutex_);
  const Allocation allocation = locate(address);
  if (is_real(allocation)) {
    if (allocation.place == MemoryPlace::kUnregistered) return 0;
    std::memcpy(target, address, bytes);
    return bytes;
  }
  return at(allocation.gpu).kept.overlay(number_of(address), target, bytes);
}

void ProcessMemory::write_kept(void* address, const void* source, std::size_t bytes) {
  const Allocation allocation = find(address);
  if (is_real(allocation)) {
    if (allocation.place != MemoryPlace::kUnregistered) std::memcpy(address, source, bytes);
    return;
  }
  change_kept(allocation.gpu,
              [&](KeptBytes& kept) { kept.write(number_of(address), source, bytes); });
}

void ProcessMemory::write_kept(void* address, LateBytes bytes) {
  const Allocation allocation = find(address);
  if (is_real(allocation)) return;
  change_kept(allocation.gpu,
              [&](KeptBytes& kept) { kept.write(number_of(address), std::move(bytes)); });
}

void ProcessMemory::forget_at(int gpu, const std::vector<std::uintptr_t>& addresses) {
  change_kept(gpu, [&](KeptBytes& kept) { kept.forget_at(addresses); });
}

void ProcessMemory::keep_more(const KeptBytes::Limits& limits) {
  talks_.store(true);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    change_kept(static_cast<int>(gpu), [&](KeptBytes& kept) { kept.set_limits(limits); });
  }
}

}  // namespace unstarve::emulated
