#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/cupti_ring.h"
#include "base/result.h"
#include "base/ring/mapped_ring.h"
#include "base/ring/ring_names.h"
#include "observe/inside/cupti/clock_match.h"
#include "observe/inside/cupti/devices.h"

namespace unstarve::recording {

/// What the ring's text says besides the devices.
struct RingFacts {
  std::string library;        // CUPTI's path
  std::uint32_t version = 0;  // of its interface
  std::string plan;           // in words: when it records
  std::string remark;         // what went otherwise than asked for; empty: nothing
};

/// CUPTI's records of one process as a ring of the run, RUN/rings/cupti-PID-NS.ring
/// (docs/formats/run.md), made when there is a first record. Times become CLOCK_MONOTONIC, numbers
/// of GPUs the machine's, addresses of names the numbers of lines in the file beside the ring.
/// Thread rule: one thread at a time.
class ActivityRing {
 public:
  static constexpr std::uint64_t kCapacity = 1 << 16;  // records; 16 MiB of disk

  ActivityRing(std::string folder, RingFacts facts)
      : folder_(std::move(folder)), facts_(std::move(facts)) {}

  /// The first of a window: written before its first record.
  void open_window(const cupti::RecordingWindow& window);
  /// A window that had no record leaves no trace where there is no ring yet.
  Status close_window(const cupti::RecordingWindow& window);

  /// Takes one record of CUPTI's, of any version; kinds that nobody reads are passed over. False:
  /// it is cut short, or damaged. An error: there is no ring, and none can be made.
  Result<bool> write(std::span<const std::uint8_t> record, const ClockMatch& clock);

  /// When the first operation began that was written; CLOCK_MONOTONIC.
  std::optional<std::int64_t> first_operation_ns() const { return first_operation_ns_; }
  void set_remark(const std::string& remark);

 private:
  struct Name {
    std::string text;
    std::uint64_t number = 0;
  };
  Status make();
  void write_text();
  Status append(const cupti::RingRecord& record);
  template <class Record>
  Result<bool> write_operation(std::span<const std::uint8_t> bytes, const ClockMatch& clock);
  Result<bool> write_peer_copy(std::span<const std::uint8_t> bytes, const ClockMatch& clock);
  Result<bool> write_call(std::span<const std::uint8_t> bytes, const ClockMatch& clock);
  std::uint32_t machine_index(std::uint32_t ordinal);
  std::uint64_t number_of_name(std::uint64_t address);

  std::string folder_;
  RingFacts facts_;
  std::optional<RingWriter> ring_;
  std::optional<RingNamesWriter> names_;
  std::optional<cupti::RecordingWindow> opened_;   // not written yet
  std::map<std::uint32_t, Device> devices_;        // by the process's number
  std::unordered_map<std::uint64_t, Name> known_;  // by address
  std::optional<std::int64_t> first_operation_ns_;
};

/// Whether a call is of use to who reads the ring: what launches, copies, waits or allocates, by
/// the runtime; by the driver, what launches.
bool is_kept(cupti::RuntimeCall call);
bool is_kept(cupti::DriverCall call);
bool is_kept(const cupti::ApiCall& call);

}  // namespace unstarve::recording
