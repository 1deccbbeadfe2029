#include "device/emulated/activity_writer.h"

#include <nlohmann/json.hpp>

#include "device/emulated/training_model.h"

namespace unstarve::device::emulated {

Result<ActivityWriter> ActivityWriter::create(const Profile& profile, const Options& options) {
  if (options.path.empty()) return ActivityWriter(std::nullopt);
  Result<RingWriter> ring =
      RingWriter::create(options.path, {.kind = RingKind::kDeviceActivity,
                                        .record_size = sizeof(cupti::RingRecord),
                                        .capacity = options.capacity,
                                        .created_ns = options.now_ns});
  if (!ring) return forward_error(ring);

  nlohmann::json text = {{"emulated", true},
                         {"profile", profile.name},
                         {"source", profile.source},
                         {"name", profile.device_name},
                         {"index", options.device_index},
                         {"total_memory_bytes", profile.total_memory_bytes},
                         {"names", nlohmann::json::array()}};
  for (const KernelKind& kind : kernel_kinds()) text["names"].push_back(std::string(kind.name));
  if (Status written = ring->set_text(text.dump()); !written) return forward_error(written);
  return ActivityWriter(std::move(*ring));
}

void ActivityWriter::append(const cupti::RingRecord& record) {
  ring_->append(std::as_bytes(std::span(&record, 1)));
}

}  // namespace unstarve::device::emulated
