#include "device/cuda/mig_instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace unstarve::device {

namespace {

using nvml::DeviceHandle;

// More than any GPU can be split into; bounds what a broken driver can make us ask.
constexpr std::uint32_t kInstancesMax = 64;
constexpr std::int64_t kBytesPerMib = 1024 * 1024;

Reading<std::int64_t> to_reading(const NvmlResult<std::uint32_t>& value) {
  if (!value) return WhyAbsent::kNotSupported;
  return std::int64_t{*value};
}

MigInstance describe(const NvmlLibrary& library, std::uint32_t index, DeviceHandle handle) {
  MigInstance instance;
  instance.index = static_cast<std::int32_t>(index);
  instance.name = library.device_name(handle).value_or("");
  instance.uuid = library.uuid(handle).value_or("");
  instance.gpu_instance = to_reading(library.gpu_instance_id(handle));
  instance.compute_instance = to_reading(library.compute_instance_id(handle));
  const NvmlResult<nvml::DeviceAttributes> attributes = library.attributes(handle);
  instance.slices = WhyAbsent::kNotSupported;
  if (attributes) instance.slices = std::int64_t{attributes->gpu_slices};
  if (const auto memory = library.memory(handle); memory) {
    instance.total_memory_bytes = static_cast<std::int64_t>(memory->total_bytes);
  } else if (attributes) {
    instance.total_memory_bytes = static_cast<std::int64_t>(attributes->memory_mib) * kBytesPerMib;
  } else {
    instance.total_memory_bytes = WhyAbsent::kNotSupported;
  }
  return instance;
}

/// The first of a list, without the spaces around it.
std::string_view first_of(std::string_view list) {
  list = list.substr(0, list.find(','));
  const std::size_t from = list.find_first_not_of(' ');
  if (from == list.npos) return {};
  return list.substr(from, list.find_last_not_of(' ') - from + 1);
}

/// Whether an entry of CUDA_VISIBLE_DEVICES is this GPU's number, or how its UUID begins.
bool names_gpu(const GpuDescription& gpu, std::string_view named) {
  std::int32_t number = 0;
  const char* const end = named.data() + named.size();
  const auto read = std::from_chars(named.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return number == gpu.index;
  return std::string_view(gpu.uuid).substr(0, named.size()) == named;
}

}  // namespace

MigState read_mig(const NvmlLibrary& library, DeviceHandle device) {
  MigState state;
  const NvmlResult<bool> on = library.mig_mode(device);
  state.on = on ? Reading<bool>(*on) : Reading<bool>(WhyAbsent::kNotSupported);
  if (!state.on.value_or(false)) return state;
  const std::uint32_t most = std::min(library.mig_count_max(device).value_or(0), kInstancesMax);
  for (std::uint32_t i = 0; i < most; ++i) {
    const NvmlResult<DeviceHandle> handle = library.mig_instance(device, i);
    if (!handle) continue;  // indices have gaps, and some are others' to see
    state.instances.push_back(describe(library, i, *handle));
    state.handles.push_back(*handle);
  }
  return state;
}

std::optional<std::size_t> instance_of_job(const GpuDescription& gpu,
                                           const std::optional<std::string>& visible_devices) {
  const std::vector<MigInstance>& instances = gpu.instances;
  const std::string_view named = visible_devices ? first_of(*visible_devices) : std::string_view();
  if (visible_devices && named.empty()) return std::nullopt;  // no device at all
  if (named.substr(0, 4) != "MIG-") {
    if (visible_devices && !names_gpu(gpu, named)) return std::nullopt;
    return instances.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  }
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const MigInstance& each = instances[i];
    const bool by_uuid = std::string_view(each.uuid).substr(0, named.size()) == named;
    const bool by_place =
        each.gpu_instance && each.compute_instance &&
        named == fmt::format("MIG-{}/{}/{}", gpu.uuid, *each.gpu_instance, *each.compute_instance);
    if (!by_uuid && !by_place) continue;
    if (found) return std::nullopt;  // two begin so
    found = i;
  }
  return found;
}

}  // namespace unstarve::device
