#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace unstarve::kernels {

/// Memory that is kept between images, aligned for vectors, grown when needed.
class AlignedBytes {
 public:
  /// At least `size` bytes; what was in it is lost when it grows. Throws std::bad_alloc.
  std::uint8_t* reserve(std::size_t size) {
    constexpr std::size_t kAlignment = 64;
    if (bytes_.size() < size + kAlignment) {
      bytes_.clear();  // so that growing copies nothing
      bytes_.resize(size + size / 4 + kAlignment);
    }
    const auto address = std::bit_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace unstarve::kernels
