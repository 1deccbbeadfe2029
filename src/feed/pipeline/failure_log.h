#pragma once

#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "feed/pipeline/loader.h"

namespace unstarve::feed {

/// The samples that could not be loaded: all counted, the first thousand listed.
/// Thread rule: any thread.
class FailureLog {
 public:
  void add(SampleFailure failure) UNSTARVE_EXCLUDES(mutex_);
  std::uint64_t count() const UNSTARVE_EXCLUDES(mutex_);
  std::vector<SampleFailure> list() const UNSTARVE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::uint64_t count_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::vector<SampleFailure> listed_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
