#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace unstarve::feed {

/// How long the consumers of a loader work on what they got. Several count as one: they are busy
/// while none of them asks for a batch and one has been handed over. Where they never wait, images
/// by busy time is therefore what all of them take together; batches that came while another still
/// asked do not count.
/// Thread rule: any thread. Times are of the loader's clock.
class ConsumerTimes {
 public:
  /// A consumer asks for a batch;
  void ask(std::int64_t now_ns) UNSTARVE_EXCLUDES(mutex_);
  /// and has the answer: a batch of `images`, or none.
  void answer(std::int64_t now_ns, std::uint64_t images) UNSTARVE_EXCLUDES(mutex_);

  struct Sums {
    std::int64_t busy_ns = 0;
    std::uint64_t images = 0;  // that were worked on meanwhile
  };
  Sums sums() const UNSTARVE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  int asking_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t in_hand_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // images; 0: nobody is busy
  std::int64_t busy_from_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  Sums sums_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
