#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace unstarve::emulated {

/// Bytes that may be known later: they are zeros until the work that brings them has ended, of
/// another rank's, say. Their number never changes.
using LateBytes = std::shared_ptr<std::vector<unsigned char>>;

/// Known bytes of some memory that was asked for: `bytes` of them from `at` on, which are those of
/// `source` from `offset` on.
struct KeptPiece {
  std::size_t at = 0;
  std::size_t bytes = 0;
  LateBytes source;
  std::size_t offset = 0;
};

/// The few bytes of device memory that are known. Results are zeros, for no kernel is executed; but
/// what a small copy put there is given back, as long as nothing ran on the device since that could
/// have changed it: DistributedDataParallel compares a few numbers of its ranks in this way before
/// it begins. Whatever runs on the device makes all of them zeros, so that no stale number gets
/// into a result. A process that talks with others may keep more of them for longer: what torch
/// sends as an object goes through a few kernels on its way.
/// Thread rule: one thread at a time; the owner locks.
class KeptBytes {
 public:
  struct Limits {
    std::size_t bytes_max = 4096;  // larger copies are zeros at once
    int launches = 0;              // so many kernels run until something is forgotten
  };
  /// Of a process that talks with others: torch's pickled objects have some KiB, and a few kernels
  /// run on their way.
  static const Limits kOfTalkers;
  /// Of one device, together; the oldest are forgotten first.
  static constexpr std::size_t kRangesMax = 1024;

  void set_limits(const Limits& limits) { limits_ = limits; }
  std::size_t bytes_max() const { return limits_.bytes_max; }

  /// A copy of `bytes` bytes from the host's `source` to `address`; nullptr: of zeros.
  void write(std::uintptr_t address, const void* source, std::size_t bytes);
  void write(std::uintptr_t address, LateBytes bytes);
  void fill(std::uintptr_t address, int value, std::size_t bytes);
  /// A copy on the device; what comes late comes late there too.
  void copy(std::uintptr_t address, std::uintptr_t source, std::size_t bytes);
  /// What lies at `address`, zeros where nothing is known; how many bytes are known.
  std::size_t read(std::uintptr_t address, void* target, std::size_t bytes) const;
  /// As read(), where `target` is zeros already.
  std::size_t overlay(std::uintptr_t address, void* target, std::size_t bytes) const;
  /// The same, for who wants to look only when all of it is known.
  std::vector<KeptPiece> pieces(std::uintptr_t address, std::size_t bytes) const;
  /// Something ran on the device.
  void forget_all();
  /// The memory was freed, or overwritten by what is not known.
  void forget(std::uintptr_t address, std::size_t bytes);
  /// Something was written at one of these addresses, nobody knows how much.
  void forget_at(const std::vector<std::uintptr_t>& addresses);
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    LateBytes source;
    std::size_t offset = 0;
    std::uint64_t launched = 0;  // before it was written
    std::uintptr_t end() const { return address + bytes; }
    Range part(std::uintptr_t from, std::uintptr_t to) const;
  };
  void add(Range range);

  Limits limits_;
  std::uint64_t launched_ = 0;
  std::deque<Range> ranges_;  // no two overlap; in the order of writing
};

inline constexpr KeptBytes::Limits KeptBytes::kOfTalkers{.bytes_max = 65536, .launches = 32};

/// What pieces hold now, zeros between them.
std::vector<unsigned char> bytes_of(const std::vector<KeptPiece>& pieces, std::size_t bytes);

}  // namespace unstarve::emulated
