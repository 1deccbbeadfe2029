#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace unstarve::feed {

/// `size` bytes at the beginning of `buffer`, which keeps its memory from sample to sample and
/// grows by a quarter more than it must. What is in it is lost where it grows.
inline std::span<std::byte> room_in(std::vector<std::byte>& buffer, std::size_t size) {
  if (buffer.size() < size) {
    buffer.clear();  // so that growing copies nothing
    buffer.resize(size + size / 4);
  }
  return std::span(buffer).first(size);
}

}  // namespace unstarve::feed
