#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace unstarve::emulated {

/// The few bytes of device memory that are known. Results are zeros, for no kernel is executed; but
/// what a small copy put there is given back, as long as nothing ran on the device since that could
/// have changed it: DistributedDataParallel compares a few numbers of its ranks in this way before
/// it begins. Whatever runs on the device makes all of them zeros, so that no stale number gets
/// into a result.
/// Thread rule: one thread at a time; the owner locks.
class KeptBytes {
 public:
  /// Larger copies are zeros at once.
  static constexpr std::size_t kBytesMax = 4096;
  /// Of one device, together; the oldest are forgotten first.
  static constexpr std::size_t kRangesMax = 1024;

  /// A copy of `bytes` bytes from the host's `source` to `address`; nullptr: of zeros.
  void write(std::uintptr_t address, const void* source, std::size_t bytes);
  void fill(std::uintptr_t address, int value, std::size_t bytes);
  /// What lies at `address`, zeros where nothing is known; how many bytes are known.
  std::size_t read(std::uintptr_t address, void* target, std::size_t bytes) const;
  /// Something ran on the device.
  void forget_all() {
    if (!ranges_.empty()) ranges_.clear();
  }
  /// The memory was freed, or overwritten by what is not known.
  void forget(std::uintptr_t address, std::size_t bytes);
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uintptr_t address = 0;
    std::vector<unsigned char> bytes;
  };
  void add(std::uintptr_t address, std::vector<unsigned char> bytes);
  std::deque<Range> ranges_;  // no two overlap
};

}  // namespace unstarve::emulated
