#include "feed/pack/usable_cpus.h"

#include <algorithm>
#include <thread>

#include "host/effective_cpus.h"

namespace unstarve::feed {
namespace {

constexpr int kMaxThreads = 1024;

}  // namespace

Result<int> thread_count(int asked) {
  if (asked < 0 || asked > kMaxThreads) {
    return fail(ErrorCode::kInvalidArgument, "threads is {}, must be 0 (all CPUs) to {}", asked,
                kMaxThreads);
  }
  if (asked > 0) return asked;
  const Result<host::EffectiveCpus> cpus = host::effective_cpus(host::HostFiles());
  if (cpus) return std::clamp(static_cast<int>(cpus->count), 1, kMaxThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

}  // namespace unstarve::feed
