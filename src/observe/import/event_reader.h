#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "observe/import/decimal.h"
#include "observe/import/event_category.h"
#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// What one event says. Views point into the event's JSON or into the reader, until its next call.
struct EventFields {
  char phase = 0;  // 'X', 'B', 'E', ...
  EventCategory category = EventCategory::kOther;
  std::string_view name;
  std::optional<Decimal> start;
  std::optional<Decimal> duration;
  std::string_view process;  // pid and tid as written, numbers or text
  std::string_view thread;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> correlation;
  std::optional<std::int64_t> external_id;  // of the framework's operation
  std::optional<std::int64_t> bytes;
  std::optional<double> gigabytes_per_s;
  std::string_view copy_kind;  // "HtoD", where the name does not say it
};

/// Takes single JSON values apart with simdjson.
class EventReader {
 public:
  EventReader();
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// `event_json` is one object, followed by at least 64 readable bytes. An error says what is
  /// wrong and has, in `error_at`, the byte within the event.
  Status read_event(std::string_view event_json, EventFields& fields, std::size_t& error_at);
  /// The `deviceProperties` of a trace; what it does not say stays absent. Same padding.
  Status read_devices(std::string_view array_json, std::vector<trace::DeviceInfo>& devices);
  /// Which rank the `distributedInfo` of a trace says it is of; none where it does not. Same
  /// padding.
  std::optional<trace::RankNumber> read_rank(std::string_view object_json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::observe
