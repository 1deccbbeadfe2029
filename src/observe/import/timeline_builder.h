#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/import/copy_name.h"
#include "observe/import/event_reader.h"
#include "observe/import/external_ids.h"
#include "observe/import/trace_clock.h"
#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// Collects the events of one trace into a Timeline.
class TimelineBuilder {
 public:
  struct Limits {
    std::uint64_t events = 0;
    std::uint64_t name_bytes = 0;
  };

  TimelineBuilder(std::string file, Limits limits);

  /// Takes what is needed of an event. Events without a usable time are counted as lost; an error
  /// means that a limit is reached.
  Status add(const EventFields& event);
  /// What `deviceProperties` says.
  void describe_devices(std::vector<trace::DeviceInfo> devices) { described_ = std::move(devices); }
  /// What `distributedInfo` says.
  void set_rank(const trace::RankNumber& number) { timeline_.rank_numbers = {number}; }
  /// Decides the unit of time, sorts, and gives the Timeline away. Call once. Errors: those of
  /// trace::list_devices().
  Result<trace::Timeline> finish();

 private:
  /// An event with begin and end, in raw time.
  struct Stretch {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  /// A 'B' event that waits for its 'E'.
  struct OpenEvent {
    EventFields fields;  // its views are not valid any more, except for `name` below
    std::string name;
    std::int64_t start = 0;
  };
  /// What a name says, worked out once per name.
  struct NameFacts {
    bool known = false;
    trace::DeviceOpKind kernel_kind = trace::DeviceOpKind::kCompute;
    trace::HostCallKind call_kind = trace::HostCallKind::kOther;
    CopyName copy;
  };

  Status add_phase(const EventFields& event);
  Status add_complete(const EventFields& event, Stretch when);
  void add_device_op(const EventFields& event, Stretch when, trace::NameId name);
  void add_host_call(const EventFields& event, Stretch when, trace::NameId name);
  void add_annotation(const EventFields& event, Stretch when);
  /// The name of a wait says that a loader has no workers; how many there are it does not say.
  std::int64_t loader_of(std::string_view wait_name, std::int64_t process);
  trace::NameId intern(std::string_view name);
  const NameFacts& facts_of(trace::NameId name);
  void fill_missing_bytes();
  void convert_times();

  trace::Timeline timeline_;
  trace::NameTable names_;
  Limits limits_;
  TraceClock clock_;
  std::uint64_t events_ = 0;
  std::uint64_t name_bytes_ = 0;
  std::vector<NameFacts> facts_;
  std::vector<trace::NameId> recent_names_;
  std::vector<trace::DeviceInfo> described_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<OpenEvent>> open_;
  std::size_t open_events_ = 0;
  std::vector<std::size_t> copies_without_bytes_;
  std::unordered_map<std::int64_t, std::int64_t> bytes_of_call_;  // by correlation
  ExternalIds external_ids_;
  bool has_correlations_ = false;  // then nobody needs the ids above
};

}  // namespace unstarve::observe
