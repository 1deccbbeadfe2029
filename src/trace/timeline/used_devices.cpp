#include "trace/timeline/used_devices.h"

#include <algorithm>
#include <unordered_map>

namespace unstarve::trace {

Result<std::vector<std::int32_t>> used_devices(const Timeline& timeline) {
  constexpr std::size_t kMost = 1024;
  std::vector<std::int32_t> used;
  for (const DeviceOp& op : timeline.device_ops) {
    if (used.empty() || used.back() != op.device) used.push_back(op.device);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.size() > kMost) {
    return fail(ErrorCode::kCorruptData,
                "{} is damaged: it names {} devices, more than any machine has", timeline.file,
                used.size());
  }
  return used;
}

Status list_devices(const std::vector<DeviceInfo>& described, Timeline& timeline) {
  const Result<std::vector<std::int32_t>> used = used_devices(timeline);
  if (!used) return forward_error(used);
  std::unordered_map<std::int32_t, const DeviceInfo*> known;
  for (const DeviceInfo& device : described) known[device.index] = &device;
  for (const std::int32_t index : *used) {
    const auto found = known.find(index);
    DeviceInfo device = found == known.end() ? DeviceInfo() : *found->second;
    device.index = index;
    timeline.devices.push_back(std::move(device));
  }
  return {};
}

}  // namespace unstarve::trace
