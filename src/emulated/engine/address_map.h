#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace unstarve::emulated {

/// Ranges of addresses that do not overlap, and what is known of each.
/// Thread rule: one thread at a time; the owner locks.
template <class Value>
class AddressMap {
 public:
  struct Range {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    Value value;
  };

  /// False: some of it is taken.
  bool add(std::uintptr_t base, std::size_t bytes, const Value& value) {
    const auto next = ranges_.lower_bound(base);
    if (next != ranges_.end() && next->first - base < bytes) return false;
    if (next != ranges_.begin()) {
      const Range& before = std::prev(next)->second;
      if (base - before.base < before.bytes) return false;
    }
    ranges_.emplace_hint(next, base, Range{base, bytes, value});
    return true;
  }

  /// The range that `address` lies in; nullptr: none.
  const Range* find(std::uintptr_t address) const {
    auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return nullptr;
    const Range& range = std::prev(next)->second;
    return address - range.base < range.bytes ? &range : nullptr;
  }

  /// The range that begins at `base`, which is not there afterwards.
  std::optional<Range> remove(std::uintptr_t base) {
    const auto found = ranges_.find(base);
    if (found == ranges_.end()) return std::nullopt;
    Range range = found->second;
    ranges_.erase(found);
    return range;
  }

  /// Those that `chosen` says, which are not there afterwards.
  template <class Chosen>
  std::vector<Range> remove_if(Chosen chosen) {
    std::vector<Range> removed;
    for (auto next = ranges_.begin(); next != ranges_.end();) {
      if (!chosen(next->second.value)) {
        ++next;
        continue;
      }
      removed.push_back(next->second);
      next = ranges_.erase(next);
    }
    return removed;
  }

 private:
  std::map<std::uintptr_t, Range> ranges_;
};

}  // namespace unstarve::emulated
