#include "allocations/counted_allocator.h"

#include <cerrno>
#include <cstddef>

// glibc's own, which stay reachable when a program brings functions of the usual names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

void* refused() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

// Seen by the shared libraries too.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) {
  return unstarve::test::refuse_allocation() ? refused() : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  return unstarve::test::refuse_allocation() ? refused() : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  return unstarve::test::refuse_allocation() ? refused() : __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return unstarve::test::refuse_allocation() ? refused() : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  *result = memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#pragma GCC visibility pop
