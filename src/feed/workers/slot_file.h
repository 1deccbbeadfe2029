#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::feed {

/// Who may write a slot. The worker turns kFree into kTaken, the consumer kTaken into kFree; so no
/// lock is needed between the processes.
enum class SlotState : std::uint32_t {
  kFree,   // the worker may fill it
  kTaken,  // being filled, on its way, held by the consumer or by a process that it forked
};

/// A slot in the table that both processes map. `offset` and `capacity` are written while the
/// worker owns the slot.
struct SlotEntry {
  std::atomic<SlotState> state;
  std::atomic<std::uint64_t> offset;  // in the file, in whole pages
  std::atomic<std::uint64_t> capacity;
};
static_assert(std::atomic<SlotState>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::uint32_t kSlotsMax = 4096;
inline constexpr std::size_t kSlotPageBytes = 4096;
inline constexpr std::size_t kSlotTableBytes =
    (kSlotsMax * sizeof(SlotEntry) + kSlotPageBytes - 1) / kSlotPageBytes * kSlotPageBytes;

/// A memory file without a name, so that nothing stays behind whoever dies: the table, then the
/// slots. It may grow, never shrink (sealed), so that a mapped slot cannot lose its pages.
Result<FileDescriptor> create_slot_memory();

/// Lays memory under `bytes` of the file from `offset` on, before a touch of it could fail: what is
/// not there when a page is touched kills the process, or others. What the machine has not got
/// available is refused before anything is taken.
Status reserve_slot_memory(int fd, std::uint64_t offset, std::uint64_t bytes);

/// Gives the memory back; the file keeps its length.
void release_slot_memory(int fd, std::uint64_t offset, std::uint64_t bytes);

/// A part of the file, mapped shared; unmapped when destroyed.
class SlotMapping {
 public:
  SlotMapping() = default;
  SlotMapping(SlotMapping&& other) noexcept;
  SlotMapping& operator=(SlotMapping&& other) noexcept;
  ~SlotMapping();

  /// All its pages are there afterwards: using it faults no more. `offset` in whole pages.
  static Result<SlotMapping> map(int fd, std::uint64_t offset, std::uint64_t bytes);

  std::span<std::byte> bytes() const { return bytes_; }
  explicit operator bool() const { return !bytes_.empty(); }

 private:
  std::span<std::byte> bytes_;
};

/// The table at the start of a mapping of at least kSlotTableBytes.
std::span<SlotEntry, kSlotsMax> slot_table(const SlotMapping& mapping);

}  // namespace unstarve::feed
