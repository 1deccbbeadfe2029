#include "emulated/engine/kept_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace unstarve::emulated {

void KeptBytes::write(std::uintptr_t address, const void* source, std::size_t bytes) {
  if (source == nullptr || bytes > limits_.bytes_max) return forget(address, bytes);
  const auto* first = static_cast<const unsigned char*>(source);
  write(address, std::make_shared<std::vector<unsigned char>>(first, first + bytes));
}

void KeptBytes::write(std::uintptr_t address, LateBytes bytes) {
  const std::size_t size = bytes->size();
  forget(address, size);
  add({.address = address, .bytes = size, .source = std::move(bytes)});
}

void KeptBytes::fill(std::uintptr_t address, int value, std::size_t bytes) {
  const auto byte = static_cast<unsigned char>(value);
  if (byte == 0 || bytes > limits_.bytes_max) return forget(address, bytes);
  write(address, std::make_shared<std::vector<unsigned char>>(bytes, byte));
}

void KeptBytes::copy(std::uintptr_t address, std::uintptr_t source, std::size_t bytes) {
  const std::vector<KeptPiece> known = pieces(source, bytes);
  forget(address, bytes);
  if (bytes > limits_.bytes_max) return;
  for (const KeptPiece& piece : known) {
    add({.address = address + piece.at,
         .bytes = piece.bytes,
         .source = piece.source,
         .offset = piece.offset});
  }
}

void KeptBytes::add(Range range) {
  if (range.bytes == 0) return;
  if (ranges_.size() >= kRangesMax) ranges_.pop_front();
  range.launched = launched_;
  ranges_.push_back(std::move(range));
}

std::vector<KeptPiece> KeptBytes::pieces(std::uintptr_t address, std::size_t bytes) const {
  std::vector<KeptPiece> pieces;
  for (const Range& range : ranges_) {
    const std::uintptr_t from = std::max(range.address, address);
    const std::uintptr_t to = std::min(range.end(), address + bytes);
    if (from >= to) continue;
    pieces.push_back({.at = from - address,
                      .bytes = to - from,
                      .source = range.source,
                      .offset = range.offset + (from - range.address)});
  }
  return pieces;
}

std::size_t KeptBytes::read(std::uintptr_t address, void* target, std::size_t bytes) const {
  std::memset(target, 0, bytes);
  return overlay(address, target, bytes);
}

std::size_t KeptBytes::overlay(std::uintptr_t address, void* target, std::size_t bytes) const {
  auto* out = static_cast<unsigned char*>(target);
  std::size_t known = 0;
  for (const KeptPiece& piece : pieces(address, bytes)) {
    std::memcpy(out + piece.at, piece.source->data() + piece.offset, piece.bytes);
    known += piece.bytes;
  }
  return known;
}

void KeptBytes::forget_all() {
  ++launched_;
  const auto launches = static_cast<std::uint64_t>(limits_.launches);
  while (!ranges_.empty() && ranges_.front().launched + launches < launched_) {
    ranges_.pop_front();
  }
}

KeptBytes::Range KeptBytes::Range::part(std::uintptr_t from, std::uintptr_t to) const {
  Range part = *this;
  part.address = from;
  part.bytes = to - from;
  part.offset += from - address;
  return part;
}

void KeptBytes::forget(std::uintptr_t address, std::size_t bytes) {
  if (ranges_.empty()) return;
  const std::uintptr_t end = address + bytes;
  std::deque<Range> kept;
  for (Range& range : ranges_) {
    if (range.end() <= address || range.address >= end) {
      kept.push_back(std::move(range));
      continue;
    }
    if (range.address < address) kept.push_back(range.part(range.address, address));
    if (range.end() > end) kept.push_back(range.part(end, range.end()));
  }
  ranges_ = std::move(kept);
}

void KeptBytes::forget_at(const std::vector<std::uintptr_t>& addresses) {
  std::erase_if(ranges_, [&](const Range& range) {
    return std::any_of(addresses.begin(), addresses.end(), [&](std::uintptr_t address) {
      return address >= range.address && address < range.end();
    });
  });
}

std::vector<unsigned char> bytes_of(const std::vector<KeptPiece>& pieces, std::size_t bytes) {
  std::vector<unsigned char> all(bytes);
  for (const KeptPiece& piece : pieces) {
    if (piece.at + piece.bytes > bytes) continue;
    std::memcpy(all.data() + piece.at, piece.source->data() + piece.offset, piece.bytes);
  }
  return all;
}

}  // namespace unstarve::emulated
