#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/workers/slot_file.h"

namespace unstarve::feed {

class SlotWriter;

/// A slot that the worker fills. Whoever holds it keeps its bytes from being filled again, also
/// after the consumer has given the slot back: a collate function may have kept a tensor on it.
class WritableSlot {
 public:
  WritableSlot(WritableSlot&& other) noexcept = default;
  WritableSlot& operator=(WritableSlot&& other) noexcept = delete;
  ~WritableSlot();

  std::uint32_t index() const { return index_; }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class SlotWriter;
  WritableSlot(std::shared_ptr<SlotWriter> writer, std::uint32_t index, std::span<std::byte> bytes)
      : writer_(std::move(writer)), index_(index), bytes_(bytes) {}

  std::shared_ptr<SlotWriter> writer_;  // shared: tensors in the worker may outlive its loop
  std::uint32_t index_ = 0;
  std::span<std::byte> bytes_;
};

/// The worker's end of the slots. It makes as many as are out at the same time, with their pages
/// in place, and fills them again and again: the steady state neither allocates nor faults.
///
///   Result<WritableSlot> slot = writer->acquire(bytes);
///   ... fill slot->bytes(), then send slot->index() ...
///
/// Thread rule: any thread of the worker.
class SlotWriter : public std::enable_shared_from_this<SlotWriter> {
 public:
  static Result<std::shared_ptr<SlotWriter>> open(FileDescriptor memory);

  /// A free slot of at least `bytes`.
  Result<WritableSlot> acquire(std::size_t bytes);
  /// Frees a slot that was not sent and will not be.
  void abandon(std::uint32_t index);

  /// Slots that were laid out since the start; constant in the steady state.
  std::uint64_t allocations() const;

 private:
  friend class WritableSlot;
  SlotWriter(FileDescriptor memory, SlotMapping table);

  std::optional<std::uint32_t> best_free(std::size_t bytes) UNSTARVE_REQUIRES(mutex_);
  std::optional<std::uint32_t> place_for_new(std::size_t bytes) UNSTARVE_REQUIRES(mutex_);
  Status lay_out(std::uint32_t index, std::size_t bytes) UNSTARVE_REQUIRES(mutex_);
  void give_back(std::uint32_t index) noexcept;

  struct Own {
    SlotMapping mapping;
    bool borrowed = false;  // a WritableSlot of it exists
  };

  const FileDescriptor memory_;
  const SlotMapping table_mapping_;
  const std::span<SlotEntry, kSlotsMax> table_;
  mutable Mutex mutex_;
  std::vector<Own> own_ UNSTARVE_GUARDED_BY(mutex_);  // as many as were ever laid out
  std::uint64_t end_ UNSTARVE_GUARDED_BY(mutex_) = kSlotTableBytes;
  std::uint64_t allocations_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::feed
