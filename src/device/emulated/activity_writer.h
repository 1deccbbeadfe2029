#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cupti_ring.h"
#include "base/mapped_ring.h"
#include "base/result.h"
#include "device/emulated/profile.h"

namespace unstarve::device::emulated {

/// Writes what the emulated GPU does as CUPTI activity records into a ring, or nowhere.
/// Operations on the device are written when they are launched, for their end is known then: their
/// times may lie in the future of a reader beside the job, which clips them to its now.
/// Thread rule: one thread at a time; the owner locks.
class ActivityWriter {
 public:
  struct Options {
    std::string path;  // empty: nothing is recorded
    std::int32_t device_index = 0;
    std::uint64_t capacity = 1 << 16;  // records; 16 MiB, some 4 s of the shortest steps
    std::int64_t now_ns = 0;
  };
  static Result<ActivityWriter> create(const Profile& profile, const Options& options);

  bool records() const { return ring_.has_value(); }
  template <class Record>
  void write(const Record& record) {
    if (ring_) append(cupti::to_ring_record(record));
  }

 private:
  explicit ActivityWriter(std::optional<RingWriter> ring) : ring_(std::move(ring)) {}
  void append(const cupti::RingRecord& record);
  std::optional<RingWriter> ring_;
};

}  // namespace unstarve::device::emulated
