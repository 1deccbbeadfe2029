#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace unstarve::emulated::nccl {

/// Waits for what other processes do, which cannot wake us: asleep, ever longer.
class Patience {
 public:
  void wait() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(next_ * 2, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kLongest{2'000};
  std::chrono::microseconds next_{20};
};

}  // namespace unstarve::emulated::nccl
