#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace unstarve::feed {

/// XXH3, 64 bits.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// The same of bytes that come in pieces.
class ChecksumStream {
 public:
  ChecksumStream();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct Release {
    void operator()(void* state) const noexcept;
  };
  std::unique_ptr<void, Release> state_;  // an XXH3_state_t
};

}  // namespace unstarve::feed
