#include "observe/inside/cupti/activity_ring.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/clock.h"
#include "base/cupti_abi.h"
#include "base/io/files.h"

namespace unstarve::recording {

namespace {

using cupti::Kind;

constexpr std::size_t kNameBytesMax = 4096;
constexpr std::string_view kEmulatedPrefix = "Emulated";

/// What a record must have at least: all that CUDA 11 already put there.
template <class Record>
constexpr std::size_t kPrefixBytes = sizeof(Record);
template <>
constexpr std::size_t kPrefixBytes<cupti::Kernel> = 112;
template <>
constexpr std::size_t kPrefixBytes<cupti::Memcpy> = 56;
template <>
constexpr std::size_t kPrefixBytes<cupti::Memset> = 56;
template <>
constexpr std::size_t kPrefixBytes<cupti::Synchronization> = 40;
template <>
constexpr std::size_t kPrefixBytes<cupti::Overhead> = 40;

/// The record as we know it; newer ones are cut, what older ones lack is 0.
template <class Record>
std::optional<Record> read(std::span<const std::uint8_t> bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (bytes.size() < kPrefixBytes<Record>) return std::nullopt;
  Record record{};
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof(record)));
  return record;
}

/// False: its times are no times.
template <class Record>
bool to_our_time(Record& record, const ClockMatch& clock) {
  if (record.end_ns < record.start_ns) return false;
  record.start_ns = clock.to_ours(record.start_ns);
  record.end_ns = clock.to_ours(record.end_ns);
  if constexpr (std::is_same_v<Record, cupti::Kernel>) {
    record.completed_ns = clock.to_ours(record.completed_ns);
    record.queued_ns = clock.to_ours(record.queued_ns);
    record.submitted_ns = clock.to_ours(record.submitted_ns);
  }
  return record.start_ns != 0 && record.start_ns <= record.end_ns;
}

/// Says why there is no ring, by the name of an empty file: it needs no room on a full disk.
void leave_word(const std::string& name, const Error& why) {
  io::Files files;
  static_cast<void>(files.open(fmt::format("{}.errno-{}", name, why.os_errno), O_CREAT | O_WRONLY));
}

}  // namespace

bool is_kept(cupti::RuntimeCall call) {
  using enum cupti::RuntimeCall;
  switch (call) {
    case kCudaStreamQuery:
    case kCudaEventCreateWithFlags:
    case kCudaEventRecord:
    case kCudaEventDestroy:
    case kCudaEventQuery:
    case kCudaStreamWaitEvent:
    case kCudaPointerGetAttributes:
    case kCudaStreamDestroy:
    case kCudaStreamCreateWithPriority: return false;
    default: return *cupti::name_of(call) != '\0';
  }
}

// What the runtime calls of the driver is within the runtime's own record.
bool is_kept(cupti::DriverCall call) {
  using enum cupti::DriverCall;
  switch (call) {
    case kCuLaunchKernel:
    case kCuLaunchKernelEx:
    case kCuLaunchCooperativeKernel:
    case kCuGraphLaunch: return true;
    default: return false;
  }
}

bool is_kept(const cupti::ApiCall& call) {
  return call.kind == static_cast<std::uint32_t>(Kind::kDriver)
             ? is_kept(static_cast<cupti::DriverCall>(call.call))
             : is_kept(static_cast<cupti::RuntimeCall>(call.call));
}

void ActivityRing::open_window(const cupti::RecordingWindow& window) {
  opened_ = window;
  if (ring_) static_cast<void>(append(cupti::to_ring_record(window)));
}

Status ActivityRing::close_window(const cupti::RecordingWindow& window) {
  opened_.reset();
  return ring_ ? append(cupti::to_ring_record(window)) : Status();
}

void ActivityRing::set_remark(const std::string& remark) {
  facts_.remark = remark;
  if (ring_) write_text();
}

Status ActivityRing::make() {
  const std::int64_t now_ns = SteadyClock().now_ns();
  const std::string name = fmt::format("{}/cupti-{}-{}", folder_, ::getpid(), now_ns);
  const std::string path = name + ".ring";
  // The names first: who finds the ring finds them.
  Result<RingNamesWriter> names = RingNamesWriter::create(path);
  if (!names) return forward_error(names);
  Result<RingWriter> ring = RingWriter::create(path, {.kind = RingKind::kDeviceActivity,
                                                      .record_size = sizeof(cupti::RingRecord),
                                                      .capacity = kCapacity,
                                                      .created_ns = now_ns});
  if (!ring) {
    static_cast<void>(::unlink(ring_names_path(path).c_str()));
    leave_word(name, ring.error());
    return forward_error(ring);
  }
  ring_.emplace(std::move(*ring));
  names_.emplace(std::move(*names));
  write_text();
  if (opened_) return append(cupti::to_ring_record(*opened_));
  return {};
}

void ActivityRing::write_text() {
  nlohmann::json text = {
      {"names_beside", true},
      {"cupti",
       {{"library", facts_.library}, {"version", facts_.version}, {"recorded", facts_.plan}}}};
  if (!facts_.remark.empty()) text["cupti"]["remark"] = facts_.remark;
  nlohmann::json& devices = text["devices"] = nlohmann::json::array();
  for (const auto& [ordinal, device] : devices_) {
    devices.push_back({{"index", device.index},
                       {"name", device.name},
                       {"emulated", device.name.starts_with(kEmulatedPrefix)},
                       {"pci_bus_id", device.pci_bus_id},
                       {"total_memory_bytes", device.total_memory_bytes}});
  }
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  // Some thirty GPUs do not fit: the last ones are left out.
  while (!ring_->set_text(text.dump(-1, ' ', false, kReplace)) && !devices.empty()) {
    devices.erase(devices.size() - 1);
  }
}

Status ActivityRing::append(const cupti::RingRecord& record) {
  if (!ring_) {
    if (Status made = make(); !made) return made;
  }
  ring_->append(std::as_bytes(std::span(&record, 1)));
  return {};
}

std::uint32_t ActivityRing::machine_index(std::uint32_t ordinal) {
  const auto known = devices_.find(ordinal);
  if (known != devices_.end()) return static_cast<std::uint32_t>(known->second.index);
  Device unknown;
  unknown.index = static_cast<int>(ordinal);
  Device device = find_device(ordinal).value_or(unknown);
  const auto index = static_cast<std::uint32_t>(device.index);
  devices_.emplace(ordinal, std::move(device));
  if (ring_) write_text();
  return index;
}

std::uint64_t ActivityRing::number_of_name(std::uint64_t address) {
  const char* name = nullptr;
  static_assert(sizeof(name) == sizeof(address));
  std::memcpy(&name, &address, sizeof(name));
  if (name == nullptr) return RingNamesWriter::kNoName;
  // A module that was unloaded leaves its addresses to others.
  const auto known = known_.find(address);
  if (known != known_.end() && known->second.text == name) return known->second.number;
  const std::string_view text(name, ::strnlen(name, kNameBytesMax));
  const std::uint64_t number = names_->number_of(text);
  known_[address] = {std::string(text), number};
  return number;
}

template <class Record>
Result<bool> ActivityRing::write_operation(std::span<const std::uint8_t> bytes,
                                           const ClockMatch& clock) {
  std::optional<Record> record = read<Record>(bytes);
  if (!record) return false;
  // One that had not ended when it had to be handed over: its launch tells of it.
  if (record->end_ns == 0) return true;
  if (!to_our_time(*record, clock)) return false;
  if (!ring_) {
    if (Status made = make(); !made) return forward_error(made);
  }
  if constexpr (requires { record->device_id; }) {
    record->device_id = machine_index(record->device_id);
    if (!first_operation_ns_) first_operation_ns_ = static_cast<std::int64_t>(record->start_ns);
  }
  if constexpr (std::is_same_v<Record, cupti::Kernel>) {
    record->kind = static_cast<std::uint32_t>(Kind::kConcurrentKernel);
    record->name = number_of_name(record->name);
  }
  if (Status added = append(cupti::to_ring_record(*record)); !added) return forward_error(added);
  return true;
}

Result<bool> ActivityRing::write_peer_copy(std::span<const std::uint8_t> bytes,
                                           const ClockMatch& clock) {
  const auto peer = read<cupti::PeerCopy>(bytes);
  if (!peer) return false;
  cupti::Memcpy copy;
  copy.copy_kind = static_cast<std::uint8_t>(cupti::CopyKind::kPeerToPeer);
  copy.source_kind = peer->source_kind;
  copy.target_kind = peer->target_kind;
  copy.flags = peer->flags;
  copy.bytes = peer->bytes;
  copy.start_ns = peer->start_ns;
  copy.end_ns = peer->end_ns;
  copy.device_id = peer->device_id;
  copy.context_id = peer->context_id;
  copy.stream_id = peer->stream_id;
  copy.correlation_id = peer->correlation_id;
  const std::span record(&copy, 1);
  return write_operation<cupti::Memcpy>(
      {reinterpret_cast<const std::uint8_t*>(record.data()), sizeof(copy)}, clock);
}

Result<bool> ActivityRing::write_call(std::span<const std::uint8_t> bytes,
                                      const ClockMatch& clock) {
  const auto call = read<cupti::ApiCall>(bytes);
  if (!call) return false;
  if (!is_kept(*call)) return true;
  return write_operation<cupti::ApiCall>(bytes, clock);
}

Result<bool> ActivityRing::write(std::span<const std::uint8_t> record, const ClockMatch& clock) {
  std::uint32_t kind = 0;
  if (record.size() < sizeof(kind)) return false;
  std::memcpy(&kind, record.data(), sizeof(kind));
  switch (kind) {
    case cupti::kKindKernel:
    case static_cast<std::uint32_t>(Kind::kConcurrentKernel):
      return write_operation<cupti::Kernel>(record, clock);
    case static_cast<std::uint32_t>(Kind::kMemcpy):
      return write_operation<cupti::Memcpy>(record, clock);
    case cupti::kKindPeerCopy: return write_peer_copy(record, clock);
    case static_cast<std::uint32_t>(Kind::kMemset):
      return write_operation<cupti::Memset>(record, clock);
    case static_cast<std::uint32_t>(Kind::kRuntime):
    case static_cast<std::uint32_t>(Kind::kDriver): return write_call(record, clock);
    case static_cast<std::uint32_t>(Kind::kSynchronization):
      return write_operation<cupti::Synchronization>(record, clock);
    case static_cast<std::uint32_t>(Kind::kOverhead):
      return write_operation<cupti::Overhead>(record, clock);
    default: return true;
  }
}

}  // namespace unstarve::recording
