#include "emulated/process/records/device_ring.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace unstarve::emulated {

Result<DeviceRing> DeviceRing::create(const Profile& profile, const Options& options) {
  const std::string path = options.folder + "/gpu-" + std::to_string(options.index) + "-" +
                           std::to_string(::getpid()) + ".ring";
  // The names first: who finds the ring finds them.
  Result<RingNamesWriter> names = RingNamesWriter::create(path);
  if (!names) return forward_error(names);
  Result<RingWriter> ring = RingWriter::create(path, {.kind = RingKind::kDeviceActivity,
                                                      .record_size = sizeof(cupti::RingRecord),
                                                      .capacity = options.capacity,
                                                      .created_ns = options.now_ns});
  if (!ring) return forward_error(ring);
  const nlohmann::json text = {{"emulated", true},
                               {"profile", profile.name},
                               {"name", profile.device_name},
                               {"index", options.index},
                               {"total_memory_bytes", profile.total_memory_bytes},
                               {"names_beside", true}};
  if (Status written = ring->set_text(text.dump()); !written) return forward_error(written);
  return DeviceRing(std::move(*ring), std::move(*names));
}

void DeviceRing::write(cupti::Kernel record, const char* name) {
  const auto known = numbers_.find(name);
  record.name = known != numbers_.end()
                    ? known->second
                    : numbers_.emplace(name, names_.number_of(name)).first->second;
  append(cupti::to_ring_record(record));
}

void DeviceRing::append(const cupti::RingRecord& record) {
  ring_.append(std::as_bytes(std::span(&record, 1)));
}

}  // namespace unstarve::emulated
