#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "feed/shard/checksum.h"

namespace unstarve::feed {

// Structures as they lie in files: without padding, with the XXH3 of their other bytes in their
// last eight, the member `checksum`.

/// The first bytes of a file or of a part of it.
using Magic = std::array<char, 8>;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

/// Sets a structure's checksum.
template <class T>
void seal(T& value) {
  value.checksum = checksum_of(bytes_of(value).first(sizeof(T) - sizeof(value.checksum)));
}

template <class T>
bool is_sealed(const T& value) {
  return value.checksum == checksum_of(bytes_of(value).first(sizeof(T) - sizeof(value.checksum)));
}

}  // namespace unstarve::feed
