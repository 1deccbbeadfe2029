#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "base/cupti_records.h"

/// How activity records lie in a ring of kind "device activity" (docs/formats/run.md).
namespace unstarve::cupti {

/// What an emulated GPU tells its NVML library and CUPTI has no record for. Observers skip it.
struct EmulatedState {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kEmulatedState);
  std::uint32_t padding = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t memory_used_bytes = 0;
};
static_assert(sizeof(EmulatedState) == 24);

/// A stretch of time in which a process's device activity was recorded. Written twice: when the
/// window opens (`end_ns` 0), and when it has closed and all that ran in it was handed over. A ring
/// without such records was written to all the time.
struct RecordingWindow {
  std::uint32_t kind = static_cast<std::uint32_t>(Kind::kWindow);
  std::uint32_t number = 0;  // of the process, from 0
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t clock_error_ns = 0;  // of operations' times against CLOCK_MONOTONIC: at most this
  std::uint64_t records_lost = 0;   // of this window
};
static_assert(sizeof(RecordingWindow) == 40);

/// One record of a ring of kind "device activity" (docs/formats/run.md).
struct RingRecord {
  std::uint32_t kind = 0;  // Kind
  std::uint32_t size = 0;  // bytes of `payload` in use
  std::byte payload[248] = {};
};
static_assert(sizeof(RingRecord) == 256);

template <class Record>
RingRecord to_ring_record(const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  static_assert(sizeof(Record) <= sizeof(RingRecord::payload));
  RingRecord out;
  out.kind = record.kind;
  out.size = sizeof(Record);
  std::memcpy(out.payload, &record, sizeof(Record));
  return out;
}

/// The record in `bytes` (one record as RingReader::drain() hands it out) if it is a Record of the
/// kind and size that this build knows; else nothing. The bytes may come from anywhere.
template <class Record>
std::optional<Record> from_ring_record(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (bytes.size() != sizeof(RingRecord)) return std::nullopt;
  std::uint32_t head[2] = {0, 0};
  std::memcpy(head, bytes.data(), sizeof(head));
  if (head[0] != Record{}.kind || head[1] < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + sizeof(head), sizeof(Record));
  if (record.kind != head[0]) return std::nullopt;
  return record;
}

/// The same for a call, of the runtime or of the driver: the record is one for both.
inline std::optional<ApiCall> from_ring_call(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(RingRecord)) return std::nullopt;
  ApiCall record;
  std::uint32_t head[2] = {0, 0};
  std::memcpy(head, bytes.data(), sizeof(head));
  std::memcpy(&record, bytes.data() + sizeof(head), sizeof(record));
  const bool is_call = head[0] == static_cast<std::uint32_t>(Kind::kRuntime) ||
                       head[0] == static_cast<std::uint32_t>(Kind::kDriver);
  if (!is_call || head[1] < sizeof(record) || record.kind != head[0]) return std::nullopt;
  return record;
}

}  // namespace unstarve::cupti
