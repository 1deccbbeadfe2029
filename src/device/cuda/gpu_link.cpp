#include "device/cuda/gpu_link.h"

namespace unstarve::device {

namespace {

constexpr std::uint32_t kLinksMax = 36;  // past NVML_NVLINK_MAX_LINKS

Reading<std::string> words_for(nvml::Ancestor ancestor) {
  switch (ancestor) {
    case nvml::Ancestor::kInternal: return std::string("one board");
    case nvml::Ancestor::kSingle: return std::string("one PCIe switch");
    case nvml::Ancestor::kMultiple: return std::string("PCIe switches");
    case nvml::Ancestor::kHostBridge: return std::string("one host bridge");
    case nvml::Ancestor::kNode: return std::string("host bridges of one NUMA node");
    case nvml::Ancestor::kSystem: return std::string("two NUMA nodes");
  }
  return WhyAbsent::kNotSupported;  // a level that a newer NVML has
}

}  // namespace

Reading<std::string> link_between(const NvmlLibrary& nvml, nvml::DeviceHandle device,
                                  nvml::DeviceHandle other) {
  const auto nvlink = nvml.joined_by_nvlink(device, other);
  if (nvlink && *nvlink) return std::string("NVLink");
  const auto ancestor = nvml.common_ancestor(device, other);
  if (!ancestor) return WhyAbsent::kNotSupported;
  return words_for(*ancestor);
}

Reading<std::int64_t> nvlinks_up(const NvmlLibrary& nvml, nvml::DeviceHandle device) {
  std::int64_t up = 0;
  for (std::uint32_t link = 0; link < kLinksMax; ++link) {
    const auto is_up = nvml.nvlink_is_up(device, link);
    if (!is_up && link == 0) return WhyAbsent::kNotSupported;
    if (!is_up) break;  // past the last one
    up += *is_up ? 1 : 0;
  }
  return up;
}

}  // namespace unstarve::device
