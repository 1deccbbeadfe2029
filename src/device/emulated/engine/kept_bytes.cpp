#include "device/emulated/engine/kept_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace unstarve::emulated {

void KeptBytes::write(std::uintptr_t address, const void* source, std::size_t bytes) {
  if (source == nullptr || bytes > kBytesMax) return forget(address, bytes);
  const auto* first = static_cast<const unsigned char*>(source);
  add(address, {first, first + bytes});
}

void KeptBytes::fill(std::uintptr_t address, int value, std::size_t bytes) {
  const auto byte = static_cast<unsigned char>(value);
  if (byte == 0 || bytes > kBytesMax) return forget(address, bytes);
  add(address, std::vector<unsigned char>(bytes, byte));
}

void KeptBytes::add(std::uintptr_t address, std::vector<unsigned char> bytes) {
  forget(address, bytes.size());
  if (bytes.empty()) return;
  if (ranges_.size() >= kRangesMax) ranges_.pop_front();
  ranges_.push_back({address, std::move(bytes)});
}

std::size_t KeptBytes::read(std::uintptr_t address, void* target, std::size_t bytes) const {
  auto* out = static_cast<unsigned char*>(target);
  std::memset(out, 0, bytes);
  std::size_t known = 0;
  for (const Range& range : ranges_) {
    const std::uintptr_t from = std::max(range.address, address);
    const std::uintptr_t to = std::min(range.address + range.bytes.size(), address + bytes);
    if (from >= to) continue;
    std::memcpy(out + (from - address), range.bytes.data() + (from - range.address), to - from);
    known += to - from;
  }
  return known;
}

void KeptBytes::forget(std::uintptr_t address, std::size_t bytes) {
  if (ranges_.empty()) return;
  const std::uintptr_t end = address + bytes;
  std::deque<Range> kept;
  for (Range& range : ranges_) {
    const std::uintptr_t range_end = range.address + range.bytes.size();
    if (range_end <= address || range.address >= end) {
      kept.push_back(std::move(range));
      continue;
    }
    if (range.address < address) {
      const auto head = static_cast<std::ptrdiff_t>(address - range.address);
      kept.push_back({range.address, {range.bytes.begin(), range.bytes.begin() + head}});
    }
    if (range_end > end) {
      const auto tail = static_cast<std::ptrdiff_t>(end - range.address);
      kept.push_back({end, {range.bytes.begin() + tail, range.bytes.end()}});
    }
  }
  ranges_ = std::move(kept);
}

}  // namespace unstarve::emulated
