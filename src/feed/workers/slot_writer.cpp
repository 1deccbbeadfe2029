#include "feed/workers/slot_writer.h"

#include <algorithm>
#include <utility>

namespace unstarve::feed {
namespace {

constexpr std::size_t kCapacityStep = 64UL * 1024;
// A small batch takes no slot that is much larger: whoever keeps it would keep all of that.
constexpr std::size_t kSpareBytes = 1024UL * 1024;
constexpr std::size_t kSpareFactor = 8;
constexpr std::size_t kSlotBytesMax = 1UL << 46U;  // beyond any memory; keeps sums from overflow

std::size_t capacity_for(std::size_t bytes) {
  const std::size_t roomy = bytes + bytes / 8;  // batches of slightly varying size share slots
  return (roomy / kCapacityStep + 1) * kCapacityStep;
}

}  // namespace

WritableSlot::~WritableSlot() {
  if (writer_ != nullptr) writer_->give_back(index_);
}

SlotWriter::SlotWriter(FileDescriptor memory, SlotMapping table)
    : memory_(std::move(memory)),
      table_mapping_(std::move(table)),
      table_(slot_table(table_mapping_)) {}

Result<std::shared_ptr<SlotWriter>> SlotWriter::open(FileDescriptor memory) {
  Result<SlotMapping> table = SlotMapping::map(memory.get(), 0, kSlotTableBytes);
  if (!table) return forward_error(table);
  struct Constructible : SlotWriter {
    Constructible(FileDescriptor m, SlotMapping t) : SlotWriter(std::move(m), std::move(t)) {}
  };
  return std::make_shared<Constructible>(std::move(memory), std::move(*table));
}

Result<WritableSlot> SlotWriter::acquire(std::size_t bytes) {
  if (bytes > kSlotBytesMax) {
    return fail(ErrorCode::kOutOfMemory, "no memory for a batch of {} bytes", bytes);
  }
  const MutexLock lock(mutex_);
  std::optional<std::uint32_t> index = best_free(bytes);
  if (!index) {
    index = place_for_new(bytes);
    if (!index) {
      return fail(ErrorCode::kOutOfMemory,
                  "{} batches of one worker are under way; lower prefetch_factor", kSlotsMax);
    }
    if (Status laid = lay_out(*index, bytes); !laid) return forward_error(laid);
  }
  Own& own = own_[*index];
  own.borrowed = true;
  table_[*index].state.store(SlotState::kTaken, std::memory_order_release);
  return WritableSlot(shared_from_this(), *index, own.mapping.bytes());
}

std::optional<std::uint32_t> SlotWriter::best_free(std::size_t bytes) {
  const std::size_t most = std::max(bytes * kSpareFactor, kSpareBytes);
  std::optional<std::uint32_t> best;
  std::size_t best_bytes = most + 1;
  for (std::uint32_t index = 0; index < own_.size(); ++index) {
    const std::size_t capacity = own_[index].mapping.bytes().size();
    if (capacity == 0 || capacity < bytes || capacity >= best_bytes) continue;
    if (own_[index].borrowed) continue;
    // Acquire: the consumer's last reads of the slot lie before our writes.
    if (table_[index].state.load(std::memory_order_acquire) != SlotState::kFree) continue;
    best = index;
    best_bytes = capacity;
  }
  return best;
}

std::optional<std::uint32_t> SlotWriter::place_for_new(std::size_t bytes) {
  std::optional<std::uint32_t> smallest;
  for (std::uint32_t index = 0; index < own_.size(); ++index) {
    if (own_[index].borrowed) continue;
    if (table_[index].state.load(std::memory_order_acquire) != SlotState::kFree) continue;
    const std::size_t capacity = own_[index].mapping.bytes().size();
    if (!smallest || capacity < own_[*smallest].mapping.bytes().size()) smallest = index;
  }
  // A free slot that was too small has had its day. One that was too large waits for its like.
  if (smallest && own_[*smallest].mapping.bytes().size() < bytes) return smallest;
  if (own_.size() >= kSlotsMax) return smallest;
  own_.emplace_back();
  return static_cast<std::uint32_t>(own_.size() - 1);
}

Status SlotWriter::lay_out(std::uint32_t index, std::size_t bytes) {
  SlotEntry& entry = table_[index];
  const std::size_t old_bytes = own_[index].mapping.bytes().size();
  own_[index].mapping = SlotMapping();
  if (old_bytes > 0) {
    release_slot_memory(memory_.get(), entry.offset.load(std::memory_order_relaxed), old_bytes);
  }
  entry.capacity.store(0, std::memory_order_relaxed);
  const std::size_t capacity = capacity_for(bytes);
  if (Status reserved = reserve_slot_memory(memory_.get(), end_, capacity); !reserved) {
    return reserved;
  }
  Result<SlotMapping> mapping = SlotMapping::map(memory_.get(), end_, capacity);
  if (!mapping) return forward_error(mapping);
  own_[index].mapping = std::move(*mapping);
  entry.offset.store(end_, std::memory_order_relaxed);
  entry.capacity.store(capacity, std::memory_order_relaxed);
  end_ += capacity;
  ++allocations_;
  return {};
}

void SlotWriter::abandon(std::uint32_t index) {
  const MutexLock lock(mutex_);
  if (index < own_.size()) table_[index].state.store(SlotState::kFree, std::memory_order_release);
}

void SlotWriter::give_back(std::uint32_t index) noexcept {
  const MutexLock lock(mutex_);
  own_[index].borrowed = false;
}

std::uint64_t SlotWriter::allocations() const {
  const MutexLock lock(mutex_);
  return allocations_;
}

}  // namespace unstarve::feed
