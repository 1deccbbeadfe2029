#include "feed/data/read_hint.h"

#include <algorithm>

namespace unstarve::feed {

ReadHint hint_range(io::Files& files, int file, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return ReadHint::kInMemory;
  const bool in_memory = files.fetch_ahead(file, offset, std::min(size, kMaxHintedBytes));
  return in_memory ? ReadHint::kInMemory : ReadHint::kFetching;
}

}  // namespace unstarve::feed
