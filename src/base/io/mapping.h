#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"

namespace unstarve::io {

enum class MapAccess { kRead, kReadAndWrite };

/// A file's bytes as memory, shared with everybody who maps it. The descriptor may be closed
/// meanwhile. A file that becomes shorter under it makes access a SIGBUS: what others may cut is
/// read, not mapped.
class Mapping {
 public:
  static Result<Mapping> of(int file, std::size_t size, MapAccess access);

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(start_), size_};
  }
  /// Only where it was mapped with kReadAndWrite.
  std::span<std::byte> writable_bytes() { return {static_cast<std::byte*>(start_), size_}; }

 private:
  Mapping(void* start, std::size_t size) : start_(start), size_(size) {}

  void* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace unstarve::io
