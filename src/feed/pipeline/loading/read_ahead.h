#pragma once

#include <algorithm>
#include <cstdint>

#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// Decides whether a thread announces samples ahead of their read: hints begin when reads are slow,
/// and end when what they announce lies in memory anyway, so that a data set in the page cache
/// costs nothing. The hints themselves tell, because with them reads are fast either way. They end
/// for good where it is the opening of a file that takes long: a hint opens it too, and would only
/// double the wait.
/// Thread rule: one thread.
class ReadAhead {
 public:
  bool wanted() const { return slow_reads_ >= kSlowReads; }

  void note_read(std::int64_t read_ns) {
    if (useless_ || wanted()) return;
    if (read_ns > kSlowNs) {
      ++slow_reads_;
      slow_read_ns_ += (read_ns - slow_read_ns_) / (slow_read_ns_ == 0 ? 1 : kSlowReads);
      in_memory_ = 0;
    } else if (slow_reads_ > 0) {
      --slow_reads_;
    }
  }

  void note_hint(ReadHint hint, std::int64_t hint_ns) {
    dear_hints_ = std::max(0, dear_hints_ + (2 * hint_ns > slow_read_ns_ ? 1 : -1));
    useless_ = hint == ReadHint::kNone || dear_hints_ == kDearHints;
    in_memory_ = hint == ReadHint::kInMemory ? in_memory_ + 1 : 0;
    if (useless_ || in_memory_ == kInMemory) slow_reads_ = 0;
  }

 private:
  // From the page cache a photograph takes 20 to 60 us, from a fast SSD some 100 us more.
  static constexpr std::int64_t kSlowNs = 200'000;
  static constexpr int kSlowReads = 4;  // more of these than of others
  static constexpr int kInMemory = 64;  // in a row
  // More of these than of others. A hint that takes half of a read has nothing left to save.
  static constexpr int kDearHints = 4;

  int slow_reads_ = 0;
  int in_memory_ = 0;
  int dear_hints_ = 0;
  std::int64_t slow_read_ns_ = 0;  // a moving mean
  bool useless_ = false;
};

}  // namespace unstarve::feed
