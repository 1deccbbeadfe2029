#include "base/io/mapping.h"

#include <sys/mman.h>

#include <cerrno>

namespace unstarve::io {

Result<Mapping> Mapping::of(int file, std::size_t size, MapAccess access) {
  const int protection = access == MapAccess::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* start = ::mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) return fail_errno(errno, "cannot map");
  return Mapping(start, size);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

}  // namespace unstarve::io
