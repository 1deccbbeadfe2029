#include "feed/pipeline/control/consumer_times.h"

#include <algorithm>

namespace unstarve::feed {

void ConsumerTimes::ask(std::int64_t now_ns) {
  const MutexLock lock(mutex_);
  if (asking_++ > 0 || in_hand_ == 0) return;
  // The clock was read before the mutex was had: another may have been faster.
  sums_.busy_ns += std::max<std::int64_t>(0, now_ns - busy_from_ns_);
  sums_.images += in_hand_;
  in_hand_ = 0;
}

void ConsumerTimes::answer(std::int64_t now_ns, std::uint64_t images) {
  const MutexLock lock(mutex_);
  if (--asking_ > 0) return;
  in_hand_ = images;
  busy_from_ns_ = now_ns;
}

ConsumerTimes::Sums ConsumerTimes::sums() const {
  const MutexLock lock(mutex_);
  return sums_;
}

}  // namespace unstarve::feed
