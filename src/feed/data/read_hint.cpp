#include "feed/data/read_hint.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>

namespace unstarve::feed {

ReadHint hint_range(int fd, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return ReadHint::kInMemory;
  const auto from = static_cast<off_t>(offset);
  char first = 0;
  const iovec target = {&first, 1};
  // Fails where the byte would have to be waited for, and where the file system cannot tell.
  if (::preadv2(fd, &target, 1, from, RWF_NOWAIT) >= 0) return ReadHint::kInMemory;
  const auto bytes = static_cast<off_t>(std::min(size, kMaxHintedBytes));
  (void)::posix_fadvise(fd, from, bytes, POSIX_FADV_WILLNEED);  // advice: no harm if it fails
  return ReadHint::kFetching;
}

}  // namespace unstarve::feed
