#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace unstarve::detail {

void check_failed(const char* condition, const char* why, const char* file, int line) {
  // The process is about to die of our own bug: the one place where the library writes to stderr.
  std::fprintf(stderr, "unstarve: broken contract: %s (%s) at %s:%d\n", why, condition, file, line);
  std::abort();
}

}  // namespace unstarve::detail
