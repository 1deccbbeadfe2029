#pragma once

#include <cstdint>

namespace unstarve::emulated {

/// How much of a GPU's memory a process has, counted as the driver gives it out: whole pages of
/// 2 MiB, which small allocations share in pieces of 512 bytes.
/// Thread rule: one thread at a time; the owner locks.
class MemoryAccount {
 public:
  static constexpr std::uint64_t kPageBytes = 2 << 20;
  static constexpr std::uint64_t kPieceBytes = 512;
  /// Allocations of this size and more have pages of their own.
  static constexpr std::uint64_t kLargeBytes = 1 << 20;

  /// False, and nothing is taken: more than `limit_bytes` would be in use.
  bool take(std::uint64_t bytes, std::uint64_t limit_bytes) {
    if (bytes > limit_bytes) return false;
    add(bytes);
    if (used_bytes() <= limit_bytes) return true;
    give(bytes);
    return false;
  }
  void give(std::uint64_t bytes) {
    if (bytes >= kLargeBytes) {
      large_ -= rounded(bytes, kPageBytes);
    } else {
      small_ -= rounded(bytes, kPieceBytes);
    }
  }
  std::uint64_t used_bytes() const { return large_ + rounded(small_, kPageBytes); }

  static std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) {
    return (bytes + to - 1) / to * to;
  }

 private:
  void add(std::uint64_t bytes) {
    if (bytes >= kLargeBytes) {
      large_ += rounded(bytes, kPageBytes);
    } else {
      small_ += rounded(bytes, kPieceBytes);
    }
  }
  std::uint64_t large_ = 0;
  std::uint64_t small_ = 0;
};

}  // namespace unstarve::emulated
