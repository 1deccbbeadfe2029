#include "feed/workers/slot_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace unstarve::feed {

HeldSlot::HeldSlot(std::shared_ptr<SlotReader> reader, std::uint32_t index,
                   std::span<std::byte> bytes)
    : reader_(std::move(reader)), index_(index), bytes_(bytes) {}

HeldSlot::~HeldSlot() {
  if (reader_ != nullptr) reader_->give_back(index_);
}

SlotReader::SlotReader(FileDescriptor memory, SlotMapping table)
    : memory_(std::move(memory)),
      table_mapping_(std::move(table)),
      table_(slot_table(table_mapping_)),
      owner_(::getpid()) {}

Result<std::shared_ptr<SlotReader>> SlotReader::open(FileDescriptor memory) {
  Result<SlotMapping> table = SlotMapping::map(memory.get(), 0, kSlotTableBytes);
  if (!table) return forward_error(table);
  struct Constructible : SlotReader {
    Constructible(FileDescriptor m, SlotMapping t) : SlotReader(std::move(m), std::move(t)) {}
  };
  return std::make_shared<Constructible>(std::move(memory), std::move(*table));
}

SlotReader::~SlotReader() {
  if (::getpid() != owner_) return;
  free_shared();
  // Another worker that was forked meanwhile may have the file open for long; its pages go now.
  for (std::uint32_t index = 0; index < kSlotsMax; ++index) {
    const SlotEntry& entry = table_[index];
    const std::uint64_t capacity = entry.capacity.load(std::memory_order_relaxed);
    if (capacity == 0 || (index < own_.size() && own_[index].shared)) continue;
    release_slot_memory(memory_.get(), entry.offset.load(std::memory_order_relaxed), capacity);
  }
}

Result<HeldSlot> SlotReader::take(std::uint32_t index) {
  if (index >= kSlotsMax) {
    return fail(ErrorCode::kCorruptData, "a worker named slot {}, which does not exist", index);
  }
  const MutexLock lock(mutex_);
  const std::uint64_t forks = witness_.watch();
  free_shared();
  if (own_.size() <= index) own_.resize(index + 1);
  Own& own = own_[index];
  if (own.held || table_[index].state.load(std::memory_order_acquire) != SlotState::kTaken) {
    return fail(ErrorCode::kCorruptData, "a worker sent slot {}, which is not its to send", index);
  }
  if (Status mapped = map(index, own); !mapped) return forward_error(mapped);
  shared_.reserve(shared_.size() + held_slots_ + 1);  // so that giving back needs no memory
  own.held = true;
  own.forks = forks;
  held_bytes_ += own.mapping.bytes().size();
  ++held_slots_;
  return HeldSlot(shared_from_this(), index, own.mapping.bytes());
}

Status SlotReader::map(std::uint32_t index, Own& own) {
  const std::uint64_t offset = table_[index].offset.load(std::memory_order_relaxed);
  const std::uint64_t capacity = table_[index].capacity.load(std::memory_order_relaxed);
  if (own.mapping && own.offset == offset && own.mapping.bytes().size() == capacity) return {};
  struct stat status = {};
  if (::fstat(memory_.get(), &status) != 0) {
    return fail_errno(errno, "cannot stat the shared memory of workers");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const bool inside = offset >= kSlotTableBytes && offset % kSlotPageBytes == 0 && offset <= size &&
                      capacity > 0 && capacity <= size - offset;
  if (!inside) {
    return fail(ErrorCode::kCorruptData,
                "a worker's table of slots is damaged (slot {}); its code wrote over it", index);
  }
  own.mapping = SlotMapping();
  Result<SlotMapping> mapping = SlotMapping::map(memory_.get(), offset, capacity);
  if (!mapping) return forward_error(mapping);
  own.mapping = std::move(*mapping);
  own.offset = offset;
  return {};
}

void SlotReader::give_back(std::uint32_t index) noexcept {
  if (::getpid() != owner_) return;  // the parent still has it; our mutex may be locked for ever
  const MutexLock lock(mutex_);
  Own& own = own_[index];
  own.held = false;
  held_bytes_ -= own.mapping.bytes().size();
  --held_slots_;
  const std::uint64_t forks = witness_.watch();
  if (forks == own.forks) {
    table_[index].state.store(SlotState::kFree, std::memory_order_release);
  } else {
    own.shared = true;
    shared_.push_back({index, own.forks, forks});
  }
  free_shared();
}

void SlotReader::free_shared() noexcept {
  if (shared_.empty()) return;
  std::erase_if(shared_, [this](const Shared& slot) UNSTARVE_REQUIRES(mutex_) {
    if (witness_.may_live(slot.after, slot.up_to)) return slot.after < witness_.given_up();
    own_[slot.index].shared = false;
    table_[slot.index].state.store(SlotState::kFree, std::memory_order_release);
    return true;
  });
  std::uint64_t asked_from = fork_count();
  for (const Shared& slot : shared_) asked_from = std::min(asked_from, slot.after);
  for (const Own& own : own_) {
    if (own.held) asked_from = std::min(asked_from, own.forks);
  }
  witness_.forget(asked_from);
}

std::uint64_t SlotReader::held_bytes() const {
  const MutexLock lock(mutex_);
  return held_bytes_;
}

std::uint64_t SlotReader::held_slots() const {
  const MutexLock lock(mutex_);
  return held_slots_;
}

}  // namespace unstarve::feed
