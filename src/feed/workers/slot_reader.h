#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/workers/fork_witness.h"
#include "feed/workers/slot_file.h"

namespace unstarve::feed {

class SlotReader;

/// A filled slot. Destroying it lets the worker fill it again.
class HeldSlot {
 public:
  HeldSlot(HeldSlot&& other) noexcept = default;
  HeldSlot& operator=(HeldSlot&& other) noexcept = delete;
  ~HeldSlot();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class SlotReader;
  HeldSlot(std::shared_ptr<SlotReader> reader, std::uint32_t index, std::span<std::byte> bytes);

  std::shared_ptr<SlotReader> reader_;  // shared: tensors may outlive the loader
  std::uint32_t index_ = 0;
  std::span<std::byte> bytes_;
};

/// The consumer's end of one worker's slots. A slot that was held while this process forked is not
/// filled again before the child and its children have ended: they may hold the same tensors. A
/// forked child gives nothing back.
///
/// Thread rule: any thread.
class SlotReader : public std::enable_shared_from_this<SlotReader> {
 public:
  static Result<std::shared_ptr<SlotReader>> open(FileDescriptor memory);
  ~SlotReader();

  /// The slot that the worker says it has filled. What the worker wrote into the table is checked:
  /// it runs code that is not ours.
  Result<HeldSlot> take(std::uint32_t index);

  /// Capacity of the slots that are held.
  std::uint64_t held_bytes() const;
  std::uint64_t held_slots() const;

 private:
  friend class HeldSlot;
  SlotReader(FileDescriptor memory, SlotMapping table);

  struct Own {
    SlotMapping mapping;
    std::uint64_t offset = 0;
    bool held = false;
    bool shared = false;      // given back, but not by all forked processes
    std::uint64_t forks = 0;  // of this process, when the slot was taken
  };
  /// A slot that was held in forks above `after` and up to `up_to`.
  struct Shared {
    std::uint32_t index = 0;
    std::uint64_t after = 0;
    std::uint64_t up_to = 0;
  };

  Status map(std::uint32_t index, Own& own) UNSTARVE_REQUIRES(mutex_);
  void give_back(std::uint32_t index) noexcept;
  /// Lets the worker have what no forked process can look at any more.
  void free_shared() noexcept UNSTARVE_REQUIRES(mutex_);

  const FileDescriptor memory_;
  const SlotMapping table_mapping_;
  const std::span<SlotEntry, kSlotsMax> table_;
  const pid_t owner_;
  mutable Mutex mutex_;
  std::vector<Own> own_ UNSTARVE_GUARDED_BY(mutex_);
  ForkWitness witness_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<Shared> shared_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t held_bytes_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t held_slots_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::feed
