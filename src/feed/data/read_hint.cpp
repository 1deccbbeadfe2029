#include "feed/data/read_hint.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace unstarve::feed {

ReadHint hint_range(int fd, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return ReadHint::kInMemory;
  const auto from = static_cast<off_t>(offset);
  char first = 0;
  const iovec target = {&first, 1};
  // Fails where the byte would have to be waited for, and where the file system cannot tell. glibc
  // has a function for this from 2.26 on; wheels are for 2.17. The position's upper half is 0.
  if (::syscall(SYS_preadv2, fd, &target, 1, from, 0, RWF_NOWAIT) >= 0) return ReadHint::kInMemory;
  const auto bytes = static_cast<off_t>(std::min(size, kMaxHintedBytes));
  (void)::posix_fadvise(fd, from, bytes, POSIX_FADV_WILLNEED);  // advice: no harm if it fails
  return ReadHint::kFetching;
}

}  // namespace unstarve::feed
