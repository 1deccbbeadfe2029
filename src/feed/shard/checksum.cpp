#include "feed/shard/checksum.h"

#include <xxhash.h>

#include <new>

namespace unstarve::feed {

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void ChecksumStream::Release::operator()(void* state) const noexcept {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

ChecksumStream::ChecksumStream() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_.get()));
}

void ChecksumStream::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_.get()), bytes.data(), bytes.size());
}

std::uint64_t ChecksumStream::value() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_.get()));
}

}  // namespace unstarve::feed
