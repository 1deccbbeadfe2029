#include "trace/device_activity.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cupti_ring.h"
#include "trace/json/json_text.h"

namespace unstarve::trace {

namespace {

/// Times up to a century of uptime; larger ones, and those that do not fit the sign, are damaged.
constexpr std::uint64_t kTimeMaxNs = 3'200'000'000'000'000'000ULL;

bool sane_times(std::uint64_t start_ns, std::uint64_t end_ns) {
  return start_ns <= end_ns && end_ns <= kTimeMaxNs;
}

std::int64_t as_signed(std::uint64_t number) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(number < kMax ? number : kMax);
}

CopyDirection direction_of(std::uint8_t copy_kind) {
  // Arrays are device memory of another layout: 3 host to array, 4 back, 5 to 7 within the device.
  switch (copy_kind) {
    case 1:
    case 3: return CopyDirection::kHostToDevice;
    case 2:
    case 4: return CopyDirection::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8: return CopyDirection::kDeviceToDevice;
    case 9: return CopyDirection::kHostToHost;
    case 10: return CopyDirection::kPeerToPeer;
    default: return CopyDirection::kUnknown;
  }
}

MemoryKind memory_of(std::uint64_t cupti_kind) {
  switch (cupti_kind) {
    case 1: return MemoryKind::kPageable;
    case 2: return MemoryKind::kPinned;
    case 3:
    case 4: return MemoryKind::kDevice;
    case 5: return MemoryKind::kManaged;
    default: return MemoryKind::kUnknown;
  }
}

/// What kernels, copies and memsets have in common.
template <class Record>
DeviceOp common_part(const Record& record, DeviceOpKind kind, const DeviceRingView& ring) {
  DeviceOp operation;
  operation.start_ns = as_signed(record.start_ns);
  operation.end_ns = as_signed(record.end_ns);
  operation.correlation = correlation_of(ring.process, record.correlation_id);
  const std::int64_t device = ring.device >= 0 ? ring.device : record.device_id;
  operation.device = static_cast<std::int32_t>(device & 0x7fff);
  operation.stream = static_cast<std::int32_t>(record.stream_id & 0x7fffffffU);
  operation.kind = kind;
  return operation;
}

bool add_kernel(std::span<const std::byte> bytes, const DeviceRingView& ring, RunSink& sink) {
  const auto record = cupti::from_ring_record<cupti::Kernel>(bytes);
  if (!record || !sane_times(record->start_ns, record->end_ns)) return false;
  const std::string_view name =
      ring.names != nullptr ? ring.names->name(record->name) : std::string_view();
  const bool communication = is_communication_kernel(name);
  sink.add(common_part(*record,
                       communication ? DeviceOpKind::kCommunication : DeviceOpKind::kCompute, ring),
           name);
  return true;
}

bool add_copy(std::span<const std::byte> bytes, const DeviceRingView& ring, RunSink& sink) {
  const auto record = cupti::from_ring_record<cupti::Memcpy>(bytes);
  if (!record || !sane_times(record->start_ns, record->end_ns)) return false;
  DeviceOp operation = common_part(*record, DeviceOpKind::kCopy, ring);
  operation.bytes = as_signed(record->bytes);
  operation.direction = direction_of(record->copy_kind);
  operation.source = memory_of(record->source_kind);
  operation.target = memory_of(record->target_kind);
  sink.add(operation, "memcpy");
  return true;
}

bool add_memset(std::span<const std::byte> bytes, const DeviceRingView& ring, RunSink& sink) {
  const auto record = cupti::from_ring_record<cupti::Memset>(bytes);
  if (!record || !sane_times(record->start_ns, record->end_ns)) return false;
  DeviceOp operation = common_part(*record, DeviceOpKind::kMemset, ring);
  operation.bytes = as_signed(record->bytes);
  operation.target = memory_of(record->memory_kind);
  sink.add(operation, "memset");
  return true;
}

std::string name_of_call(const cupti::ApiCall& record) {
  const bool driver = record.kind == static_cast<std::uint32_t>(cupti::Kind::kDriver);
  std::string name = driver ? cupti::name_of(static_cast<cupti::DriverCall>(record.call))
                            : cupti::name_of(static_cast<cupti::RuntimeCall>(record.call));
  if (!name.empty()) return name;
  return (driver ? "driver call " : "runtime call ") + std::to_string(record.call);
}

bool add_call(std::span<const std::byte> bytes, const DeviceRingView& ring, RunSink& sink) {
  const auto record = cupti::from_ring_call(bytes);
  if (!record || !sane_times(record->start_ns, record->end_ns)) return false;
  const std::string name = name_of_call(*record);
  HostCall call;
  call.start_ns = as_signed(record->start_ns);
  call.end_ns = as_signed(record->end_ns);
  call.correlation = correlation_of(ring.process, record->correlation_id);
  call.thread = record->thread_id;
  call.process = record->process_id;
  call.kind = classify_host_call(name);
  sink.add(call, name);
  return true;
}

bool add_window(std::span<const std::byte> bytes, const DeviceRingView& ring, RunSink& sink) {
  const auto record = cupti::from_ring_record<cupti::RecordingWindow>(bytes);
  if (!record) return false;
  const bool closed = record->end_ns != 0;
  if (record->start_ns < 0 || record->clock_error_ns < 0) return false;
  if (closed && !sane_times(static_cast<std::uint64_t>(record->start_ns),
                            static_cast<std::uint64_t>(record->end_ns))) {
    return false;
  }
  WindowRow row;
  row.process = {ring.process, ring.born_ns};
  row.number = record->number;
  row.start_ns = record->start_ns;
  row.end_ns = WhyAbsent::kNotObserved;
  if (closed) row.end_ns = record->end_ns;
  row.clock_error_ns = record->clock_error_ns;
  row.records_lost = as_signed(record->records_lost);
  sink.add(row);
  return true;
}

std::string text_or_empty(const nlohmann::json& object, const char* key) {
  const auto entry = object.find(key);
  return entry != object.end() && entry->is_string() ? entry->get<std::string>() : std::string();
}

Reading<std::int64_t> integer(const nlohmann::json& object, const char* key) {
  const auto entry = object.find(key);
  if (entry == object.end() || !entry->is_number_integer()) return WhyAbsent::kNotObserved;
  return entry->get<std::int64_t>();
}

/// As a person writes it; what is no mangled name, as it is.
std::string demangled(std::string_view name) {
  const std::string text(name);
  if (text.compare(0, 2, "_Z") != 0) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable != nullptr ? std::string(readable.get()) : text;
}

/// What a text says of a device: the whole of it, or one of its `devices`.
DeviceRow device_of(const nlohmann::json& object, std::string_view text) {
  DeviceRow device;
  device.index = integer(object, "index").value_or(0);
  device.name = text_or_empty(object, "name");
  const auto emulated = object.find("emulated");
  device.emulated = emulated != object.end() && emulated->is_boolean() && emulated->get<bool>();
  device.total_memory_bytes = integer(object, "total_memory_bytes");
  device.text = std::string(text);
  return device;
}

}  // namespace

std::optional<DeviceRingText> parse_device_ring_text(std::string_view json) {
  DeviceRingText out;
  const nlohmann::json object = parse_json(json);
  if (!object.is_object()) return std::nullopt;
  const auto devices = object.find("devices");
  if (devices == object.end() || !devices->is_array()) {
    out.devices.push_back(device_of(object, json));
    out.index = out.devices.front().index;
  } else {
    for (const nlohmann::json& device : *devices) {
      if (device.is_object()) out.devices.push_back(device_of(device, device.dump()));
    }
  }
  const auto cupti = object.find("cupti");
  if (cupti != object.end() && cupti->is_object()) out.remark = text_or_empty(*cupti, "remark");
  const auto beside = object.find("names_beside");
  out.names_beside = beside != object.end() && beside->is_boolean() && beside->get<bool>();
  const auto names = object.find("names");
  if (names != object.end() && names->is_array()) {
    for (const nlohmann::json& name : *names) {
      out.names.push_back(name.is_string() ? name.get<std::string>() : std::string());
    }
  }
  return out;
}

void KernelNames::set_text(const DeviceRingText& text) {
  use_beside_ = text.names_beside;
  in_text_ = text.names;
}

std::string_view KernelNames::name(std::uint64_t number) {
  if (!use_beside_) {
    return number < in_text_.size() ? std::string_view(in_text_[number]) : std::string_view();
  }
  if (number < readable_.size() && !readable_[number].empty()) return readable_[number];
  const std::string_view mangled = beside_.name(number);
  if (mangled.empty()) return mangled;
  if (number >= readable_.size()) readable_.resize(number + 1);
  return readable_[number] = demangled(mangled);
}

bool decode_device_activity(std::span<const std::byte> record, const DeviceRingView& ring,
                            RunSink& sink) {
  std::uint32_t kind = 0;
  if (record.size() != sizeof(cupti::RingRecord)) return false;
  std::memcpy(&kind, record.data(), sizeof(kind));
  switch (static_cast<cupti::Kind>(kind)) {
    case cupti::Kind::kConcurrentKernel: return add_kernel(record, ring, sink);
    case cupti::Kind::kMemcpy: return add_copy(record, ring, sink);
    case cupti::Kind::kMemset: return add_memset(record, ring, sink);
    case cupti::Kind::kRuntime:
    case cupti::Kind::kDriver: return add_call(record, ring, sink);
    case cupti::Kind::kWindow: return add_window(record, ring, sink);
    // The wait inside a call that is recorded as a call already, and what NVML shows.
    case cupti::Kind::kSynchronization:
    case cupti::Kind::kEmulatedState:
    case cupti::Kind::kOverhead: return true;
  }
  return false;
}

}  // namespace unstarve::trace
