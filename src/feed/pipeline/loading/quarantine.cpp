#include "feed/pipeline/loading/quarantine.h"

#include <algorithm>
#include <new>

namespace unstarve::feed {
namespace {
constexpr std::size_t kListed = 1000;
constexpr std::size_t kMostKept = 1 << 17;  // some megabytes
}  // namespace

bool is_of_the_sample(ErrorCode code) {
  return code == ErrorCode::kCorruptData || code == ErrorCode::kNotSupported ||
         code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
}

void Quarantine::add_failure(std::uint32_t index, std::uint32_t epoch,
                             const std::string& message) noexcept {
  MutexLock lock(mutex_);
  count(index, epoch, message);
}

void Quarantine::add_bad(std::uint32_t index, std::uint32_t epoch,
                         const std::string& message) noexcept {
  MutexLock lock(mutex_);
  if (bad_.contains(index)) return;  // another thread read it at the same time
  count(index, epoch, message);
  if (bad_.size() >= kMostKept) return;
  try {
    bad_.insert(index);
  } catch (const std::bad_alloc&) {
    return;  // it is tried again, with the same end
  }
}

void Quarantine::count(std::uint32_t index, std::uint32_t epoch,
                       const std::string& message) noexcept {
  ++failures_;
  if (listed_.size() >= kListed) return;
  try {
    listed_.push_back({index, epoch, message});
  } catch (const std::bad_alloc&) {
    return;  // counted, not listed
  }
}

bool Quarantine::holds(std::uint32_t index) const {
  MutexLock lock(mutex_);
  return !bad_.empty() && bad_.contains(index);
}

std::uint64_t Quarantine::failures() const {
  MutexLock lock(mutex_);
  return failures_;
}

std::vector<SampleFailure> Quarantine::list() const {
  MutexLock lock(mutex_);
  return listed_;
}

std::vector<std::uint32_t> Quarantine::bad() const {
  MutexLock lock(mutex_);
  std::vector<std::uint32_t> sorted(bad_.begin(), bad_.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() > kMostBad) sorted.resize(kMostBad);
  return sorted;
}

void Quarantine::restore(const std::vector<std::uint32_t>& bad) {
  MutexLock lock(mutex_);
  bad_.clear();
  bad_.insert(bad.begin(), bad.end());
}

}  // namespace unstarve::feed
