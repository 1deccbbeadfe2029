#include "allocations/counted_allocator.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// glibc's own, which stay reachable when a program brings functions of the usual names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace unstarve::test {
namespace {

std::atomic<std::uint64_t> g_allocations{0};
thread_local bool t_ignored = false;

void count() {
  if (!t_ignored) g_allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t allocations() { return g_allocations.load(std::memory_order_relaxed); }
void ignore_this_thread() { t_ignored = true; }

}  // namespace unstarve::test

// Seen by the shared libraries too.
#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) {
  unstarve::test::count();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  unstarve::test::count();
  return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  unstarve::test::count();
  return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  unstarve::test::count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  unstarve::test::count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  unstarve::test::count();
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#pragma GCC visibility pop
