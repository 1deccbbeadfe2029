#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_handle.h"

namespace unstarve::feed {

/// How often this process has forked, counted from the first call on.
std::uint64_t fork_count();

/// Tells whether processes that were forked from this one may still live: they may look at memory
/// that this one held when it forked.
///
/// A page is mapped here, and so in each forked process until it ends or executes something else,
/// whatever descriptors it closes. After a fork another page takes its place here. The kernel
/// refuses to seal the file of the old one against writing while any process has it mapped.
///
/// Thread rule: none; its owner has a lock.
class ForkWitness {
 public:
  ForkWitness();

  /// Forks up to now; each later one is witnessed. Call it before memory is taken that a forked
  /// process may share, and again before may_live().
  std::uint64_t watch() noexcept;
  /// Whether a process may live whose fork is numbered above `after` and up to `up_to`. Where the
  /// kernel cannot tell, it may.
  bool may_live(std::uint64_t after, std::uint64_t up_to) noexcept;
  /// Nobody will ask about forks up to `up_to`.
  void forget(std::uint64_t up_to) noexcept;
  /// Up to this fork the answer stays that they may live: too many of its time did.
  std::uint64_t given_up() const { return given_up_; }

 private:
  struct MappingTraits {
    using Handle = void*;
    static Handle invalid() { return nullptr; }
    static void close(Handle page) noexcept;
  };
  struct Page {
    FileDescriptor file;
    UniqueHandle<MappingTraits> mapping;
    std::uint64_t after = 0;  // forks above this one have it,
    std::uint64_t up_to = 0;  // up to this one; of the newest: not known yet
  };
  static Page map_page(std::uint64_t after) noexcept;

  Page newest_;
  bool watches_ = false;
  std::vector<Page> older_;  // oldest first, no longer mapped here
  std::uint64_t given_up_ = 0;
};

}  // namespace unstarve::feed
