#include "feed/pipeline/failure_log.h"

#include <new>
#include <utility>

namespace unstarve::feed {
namespace {
constexpr std::size_t kListed = 1000;
}

void FailureLog::add(SampleFailure failure) {
  MutexLock lock(mutex_);
  ++count_;
  if (listed_.size() >= kListed) return;
  try {
    listed_.push_back(std::move(failure));
  } catch (const std::bad_alloc&) {
    return;  // counted, not listed: this runs in a thread that must not throw
  }
}

std::uint64_t FailureLog::count() const {
  MutexLock lock(mutex_);
  return count_;
}

std::vector<SampleFailure> FailureLog::list() const {
  MutexLock lock(mutex_);
  return listed_;
}

}  // namespace unstarve::feed
