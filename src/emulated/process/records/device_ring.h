#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/cupti_ring.h"
#include "base/result.h"
#include "base/ring/mapped_ring.h"
#include "base/ring/ring_names.h"
#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// What one process did on one emulated GPU, in the ring FOLDER/gpu-INDEX-PID.ring
/// (docs/formats/run.md), with the kernels' names in the file beside it.
/// Thread rule: one thread at a time; the owner locks.
class DeviceRing {
 public:
  struct Options {
    std::string folder;
    int index = 0;                     // of the machine's, whatever the process may see of them
    std::uint64_t capacity = 1 << 16;  // records; 16 MiB of address space, taken as it fills
    std::int64_t now_ns = 0;
  };
  static Result<DeviceRing> create(const Profile& profile, const Options& options);

  /// `name` lives for ever.
  void write(cupti::Kernel record, const char* name);
  template <class Record>
  void write(const Record& record) {
    append(cupti::to_ring_record(record));
  }

 private:
  DeviceRing(RingWriter ring, RingNamesWriter names)
      : ring_(std::move(ring)), names_(std::move(names)) {}
  void append(const cupti::RingRecord& record);

  RingWriter ring_;
  RingNamesWriter names_;
  std::unordered_map<const char*, std::uint64_t> numbers_;  // by the address alone: no hashing
};

}  // namespace unstarve::emulated
