#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace unstarve::feed {

/// One sample that could not be loaded.
struct SampleFailure {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::string message;  // names the file
};

/// Whether the sample itself is at fault, so that it would fail at any time.
bool is_of_the_sample(ErrorCode code);

/// The samples that could not be loaded. All are counted, the first thousand listed with their
/// messages; those that are known to be bad are not tried again.
/// Thread rule: any thread.
class Quarantine {
 public:
  /// As many as a saved state can name.
  static constexpr std::size_t kMostBad = 1000;

  /// Counts and lists a failure; where there is no memory to list it, counts it.
  void add_failure(std::uint32_t index, std::uint32_t epoch, const std::string& message) noexcept
      UNSTARVE_EXCLUDES(mutex_);
  /// The same for a sample that is not to be tried again: it counts once, also where several
  /// threads had begun to read it. There is an end to how many are kept: further ones are tried
  /// each time, with the same result, and count each time.
  void add_bad(std::uint32_t index, std::uint32_t epoch, const std::string& message) noexcept
      UNSTARVE_EXCLUDES(mutex_);
  bool holds(std::uint32_t index) const UNSTARVE_EXCLUDES(mutex_);

  std::uint64_t failures() const UNSTARVE_EXCLUDES(mutex_);
  std::vector<SampleFailure> list() const UNSTARVE_EXCLUDES(mutex_);
  /// Sorted, no more than kMostBad.
  std::vector<std::uint32_t> bad() const UNSTARVE_EXCLUDES(mutex_);
  void restore(const std::vector<std::uint32_t>& bad) UNSTARVE_EXCLUDES(mutex_);

 private:
  void count(std::uint32_t index, std::uint32_t epoch, const std::string& message) noexcept
      UNSTARVE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint64_t failures_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::vector<SampleFailure> listed_ UNSTARVE_GUARDED_BY(mutex_);
  std::unordered_set<std::uint32_t> bad_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
