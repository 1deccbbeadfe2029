#include "observe/import/timeline_builder.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "trace/text/characters.h"
#include "trace/timeline/used_devices.h"

namespace unstarve::observe {

namespace {

using trace::DeviceOpKind;

constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostOpenEvents = 1'000'000;
constexpr std::size_t kRecentNames = 1024;

/// A number as it is, any other text as a hash (FNV-1a) of it: threads and processes only have to
/// be told apart.
std::int64_t identity_of(std::string_view text) {
  if (const auto number = parse_integer(text)) return *number;
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return static_cast<std::int64_t>(hash >> 1);
}

/// The first number in "stream 7", "GPU 0" or 7.
std::optional<std::int64_t> whole_number_in(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == text.npos) return std::nullopt;
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data() + first, text.data() + text.size(), value);
  return result.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::int32_t small_number(std::optional<std::int64_t> first, std::string_view second) {
  const std::int64_t value = first ? *first : whole_number_in(second).value_or(0);
  const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                    value <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(value) : -1;
}

std::uint64_t eight_bytes(std::string_view text, std::size_t at) {
  std::uint64_t value = 0;
  text.substr(at, sizeof value).copy(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

/// Where a name is looked up first: kernel names are long and few, so that its length and three
/// pieces of it tell it from nearly all others.
std::size_t recent_slot(std::string_view name) {
  const std::size_t last = name.size() < 8 ? 0 : name.size() - 8;
  std::uint64_t mix = name.size() * 0x9E3779B97F4A7C15ULL;
  mix = (mix ^ eight_bytes(name, 0)) * 0x9E3779B97F4A7C15ULL;
  mix = (mix ^ eight_bytes(name, last / 2) ^ (mix >> 29)) * 0x9E3779B97F4A7C15ULL;
  mix = (mix ^ eight_bytes(name, last) ^ (mix >> 31)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mix >> 54);
}

/// Profilers that write an annotation under two categories would count a step twice.
template <class T>
void drop_duplicates(std::vector<T>& items) {
  const auto same = [](const T& a, const T& b) {
    return a.when.start_ns == b.when.start_ns && a.when.end_ns == b.when.end_ns &&
           a.thread == b.thread && a.process == b.process;
  };
  items.erase(std::unique(items.begin(), items.end(), same), items.end());
}

/// torch's word for the device whose work such an event is; empty: a GPU's, or the host's.
std::string_view named_device(EventCategory category) {
  if (category == EventCategory::kMtia) return "mtia";
  return category == EventCategory::kHpu ? "hpu" : std::string_view();
}

/// Of one copy or fill: 0 where no memory holds so much. Millions of them can be added up.
std::int64_t plausible_bytes(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return bytes > 0 && bytes <= kMost ? bytes : 0;
}

}  // namespace

TimelineBuilder::TimelineBuilder(std::string file, Limits limits)
    : names_(timeline_), limits_(limits), recent_names_(kRecentNames, 0) {
  timeline_.input = trace::InputKind::kKineto;
  timeline_.file = std::move(file);
}

Status TimelineBuilder::add(const EventFields& event) {
  if (event.phase == 'B' || event.phase == 'E') return add_phase(event);
  if (event.phase != 'X' || event.category == EventCategory::kOther) return {};
  if (const std::string_view device = named_device(event.category); !device.empty()) {
    if (timeline_.training_devices.empty()) {
      timeline_.training_devices = {{.process = 0, .kind = std::string(device)}};
    }
    return {};
  }
  if (event.category == EventCategory::kAnnotation && !is_step_name(event.name) &&
      !is_loader_wait_name(event.name)) {
    return {};
  }
  Stretch when;
  const auto start = event.start ? clock_.raw_time(*event.start) : std::nullopt;
  const auto duration = event.duration ? clock_.raw_duration(*event.duration) : std::nullopt;
  if (!start || !duration) {
    ++timeline_.events_lost;
    return {};
  }
  when.start = *start;
  when.end = *start + *duration;
  return add_complete(event, when);
}

Status TimelineBuilder::add_phase(const EventFields& event) {
  const auto time = event.start ? clock_.raw_time(*event.start) : std::nullopt;
  if (!time) {
    ++timeline_.events_lost;
    return {};
  }
  auto& stack = open_[{identity_of(event.process), identity_of(event.thread)}];
  if (event.phase == 'B') {
    if (open_events_ >= kMostOpenEvents) {
      return fail(ErrorCode::kCorruptData, "more than {} begun events are never ended",
                  kMostOpenEvents);
    }
    ++open_events_;
    OpenEvent& opened = stack.emplace_back();
    opened.fields = event;
    opened.name = std::string(trace::first_bytes(event.name, kLongestName));
    opened.start = *time;
    return {};
  }
  if (stack.empty()) {
    ++timeline_.events_lost;
    return {};
  }
  OpenEvent opened = std::move(stack.back());
  stack.pop_back();
  --open_events_;
  opened.fields.name = opened.name;
  opened.fields.process = event.process;
  opened.fields.thread = event.thread;
  opened.fields.copy_kind = {};
  if (*time < opened.start) {
    ++timeline_.events_lost;
    return {};
  }
  return add_complete(opened.fields, {opened.start, *time});
}

Status TimelineBuilder::add_complete(const EventFields& event, Stretch when) {
  if (event.category == EventCategory::kOther) return {};
  if (event.category == EventCategory::kAnnotation && !is_step_name(event.name) &&
      !is_loader_wait_name(event.name)) {
    return {};
  }
  if (++events_ > limits_.events) {
    return fail(ErrorCode::kCorruptData, "more than {} operations, calls and steps",
                limits_.events);
  }
  if (event.category == EventCategory::kAnnotation) {
    add_annotation(event, when);
    return {};
  }
  const trace::NameId name = intern(trace::first_bytes(event.name, kLongestName));
  if (name_bytes_ > limits_.name_bytes) {
    return fail(ErrorCode::kCorruptData, "more than {} bytes of different names",
                limits_.name_bytes);
  }
  if (event.category == EventCategory::kHostCall) {
    add_host_call(event, when, name);
  } else {
    add_device_op(event, when, name);
  }
  return {};
}

void TimelineBuilder::add_device_op(const EventFields& event, Stretch when, trace::NameId name) {
  trace::DeviceOp& op = timeline_.device_ops.emplace_back();
  op.start_ns = when.start;
  op.end_ns = when.end;
  op.name = name;
  op.correlation = event.correlation.value_or(trace::kNoCorrelation);
  has_correlations_ = has_correlations_ || event.correlation.has_value();
  if (!has_correlations_ && event.external_id.value_or(0) != 0) {
    external_ids_.note_op(timeline_.device_ops.size() - 1, *event.external_id);
  }
  op.bytes = plausible_bytes(event.bytes.value_or(0));
  // Without these arguments, profilers put the device into pid and the stream into tid.
  op.device = small_number(event.device, event.process);
  op.stream = small_number(event.stream, event.thread);
  clock_.note_operation(when.end - when.start);
  const NameFacts& facts = facts_of(name);
  switch (event.category) {
    case EventCategory::kCopy: {
      op.kind = DeviceOpKind::kCopy;
      const CopyName copy = facts.copy.direction == trace::CopyDirection::kUnknown
                                ? parse_copy_name(event.copy_kind)
                                : facts.copy;
      op.direction = copy.direction;
      op.source = copy.source;
      op.target = copy.target;
      if (!event.bytes) copies_without_bytes_.push_back(timeline_.device_ops.size() - 1);
      clock_.note_copy(op.bytes, event.gigabytes_per_s.value_or(0), when.end - when.start);
      break;
    }
    case EventCategory::kMemset: op.kind = DeviceOpKind::kMemset; break;
    default: op.kind = facts.kernel_kind; break;
  }
}

void TimelineBuilder::add_host_call(const EventFields& event, Stretch when, trace::NameId name) {
  trace::HostCall& call = timeline_.host_calls.emplace_back();
  call.start_ns = when.start;
  call.end_ns = when.end;
  call.name = name;
  call.correlation = event.correlation.value_or(trace::kNoCorrelation);
  has_correlations_ = has_correlations_ || event.correlation.has_value();
  if (!has_correlations_ && event.external_id.value_or(0) != 0) {
    external_ids_.note_call(timeline_.host_calls.size() - 1, *event.external_id);
  }
  call.process = identity_of(event.process);
  call.thread = identity_of(event.thread);
  call.kind = facts_of(name).call_kind;
  // ROCm gives a copy's size with the call, CUDA with the copy.
  if (event.bytes && event.correlation) {
    bytes_of_call_[*event.correlation] = plausible_bytes(*event.bytes);
  }
  clock_.note_call(when.end - when.start);
}

void TimelineBuilder::add_annotation(const EventFields& event, Stretch when) {
  const trace::Interval interval{when.start, when.end};
  if (is_loader_wait_name(event.name)) {
    trace::LoaderWait& wait = timeline_.loader_waits.emplace_back();
    wait.when = interval;
    wait.process = identity_of(event.process);
    wait.thread = identity_of(event.thread);
    wait.loader_id = loader_of(event.name, wait.process);
    return;
  }
  trace::Step& step = timeline_.steps.emplace_back();
  step.when = interval;
  step.process = identity_of(event.process);
  step.thread = identity_of(event.thread);
  step.index =
      whole_number_in(event.name).value_or(static_cast<std::int64_t>(timeline_.steps.size()) - 1);
}

// A trace names the kind of iterator and no loader, so that those with workers are told from those
// without: the number of a loader without workers is 0, that of all with workers 1.
std::int64_t TimelineBuilder::loader_of(std::string_view wait_name, std::int64_t process) {
  if (wait_name.find("SingleProcess") == std::string_view::npos) return 1;
  const auto same = [process](const trace::LoaderConfig& loader) {
    return loader.process == process;
  };
  if (std::none_of(timeline_.loaders.begin(), timeline_.loaders.end(), same)) {
    trace::LoaderConfig& loader = timeline_.loaders.emplace_back();
    loader.process = process;
    loader.id = 0;
    loader.num_workers = 0;
  }
  return 0;
}

trace::NameId TimelineBuilder::intern(std::string_view name) {
  trace::NameId& recent = recent_names_[recent_slot(name)];
  if (timeline_.name_of(recent) == name) return recent;
  const std::size_t before = timeline_.names.size();
  recent = names_.intern(name);
  if (timeline_.names.size() > before) name_bytes_ += name.size();
  return recent;
}

const TimelineBuilder::NameFacts& TimelineBuilder::facts_of(trace::NameId name) {
  if (facts_.size() <= name) facts_.resize(timeline_.names.size());
  NameFacts& facts = facts_[name];
  if (!facts.known) {
    const std::string_view text = timeline_.name_of(name);
    facts.known = true;
    if (trace::is_communication_kernel(text)) facts.kernel_kind = DeviceOpKind::kCommunication;
    facts.call_kind = trace::classify_host_call(text);
    facts.copy = parse_copy_name(text);
  }
  return facts;
}

void TimelineBuilder::fill_missing_bytes() {
  for (const std::size_t index : copies_without_bytes_) {
    trace::DeviceOp& copy = timeline_.device_ops[index];
    if (copy.correlation == trace::kNoCorrelation) continue;
    const auto found = bytes_of_call_.find(copy.correlation);
    if (found != bytes_of_call_.end()) copy.bytes = std::max<std::int64_t>(found->second, 0);
  }
}

void TimelineBuilder::convert_times() {
  const auto convert = [this](std::int64_t& raw) { raw = clock_.nanoseconds(raw); };
  for (auto& op : timeline_.device_ops) {
    convert(op.start_ns);
    convert(op.end_ns);
  }
  for (auto& call : timeline_.host_calls) {
    convert(call.start_ns);
    convert(call.end_ns);
  }
  for (auto& wait : timeline_.loader_waits) {
    convert(wait.when.start_ns);
    convert(wait.when.end_ns);
  }
  for (auto& step : timeline_.steps) {
    convert(step.when.start_ns);
    convert(step.when.end_ns);
  }
}

Result<trace::Timeline> TimelineBuilder::finish() {
  timeline_.events_lost += static_cast<std::int64_t>(open_events_);
  fill_missing_bytes();
  convert_times();
  if (!has_correlations_) external_ids_.link(timeline_);
  trace::sort_by_start(timeline_);
  drop_duplicates(timeline_.steps);
  drop_duplicates(timeline_.loader_waits);
  if (const Status listed = trace::list_devices(described_, timeline_); !listed) {
    return forward_error(listed);
  }
  return std::move(timeline_);
}

}  // namespace unstarve::observe
