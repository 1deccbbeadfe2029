#include "observe/inside/cupti/devices.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace unstarve::recording {

namespace {

// As NVIDIA's headers cuda.h and nvml.h declare them; 0 is success in both.
extern "C" {
using DeviceGet = int (*)(int* device, int ordinal);
using DeviceGetText = int (*)(char* text, int size, int device);
using DeviceTotalMemory = int (*)(std::size_t* bytes, int device);
using NvmlPlain = int (*)();
using NvmlByBusId = int (*)(const char* pci_bus_id, void** device);
using NvmlIndex = int (*)(void* device, unsigned* index);
}

template <class Function>
Function find(void* library, const char* name) {
  void* const address = library != nullptr ? ::dlsym(library, name) : nullptr;
  Function out = nullptr;
  static_assert(sizeof(out) == sizeof(address));
  std::memcpy(&out, &address, sizeof(out));
  return out;
}

/// NVML's number of a GPU, by which everybody outside of CUDA names it.
std::optional<int> nvml_index(const std::string& pci_bus_id) {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init = find<NvmlPlain>(library, "nvmlInit_v2");
  const auto shut_down = find<NvmlPlain>(library, "nvmlShutdown");
  const auto by_bus_id = find<NvmlByBusId>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  const auto index_of = find<NvmlIndex>(library, "nvmlDeviceGetIndex");
  if (init == nullptr || shut_down == nullptr || by_bus_id == nullptr || index_of == nullptr) {
    return std::nullopt;
  }
  if (init() != 0) return std::nullopt;
  void* device = nullptr;
  unsigned index = 0;
  const bool known = by_bus_id(pci_bus_id.c_str(), &device) == 0 && index_of(device, &index) == 0;
  static_cast<void>(shut_down());  // counted: others that use it keep it
  return known ? std::optional(static_cast<int>(index)) : std::nullopt;
}

int machine_index(std::uint32_t ordinal, const std::string& pci_bus_id) {
  if (const auto index = nvml_index(pci_bus_id)) return *index;
  const std::vector<int> visible = visible_numbers(std::getenv("CUDA_VISIBLE_DEVICES"));
  return ordinal < visible.size() ? visible[ordinal] : static_cast<int>(ordinal);
}

}  // namespace

std::optional<Device> find_device(std::uint32_t ordinal) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto get = find<DeviceGet>(driver, "cuDeviceGet");
  const auto get_name = find<DeviceGetText>(driver, "cuDeviceGetName");
  const auto get_bus_id = find<DeviceGetText>(driver, "cuDeviceGetPCIBusId");
  const auto get_memory = find<DeviceTotalMemory>(driver, "cuDeviceTotalMem_v2");
  if (get == nullptr || get_name == nullptr || get_bus_id == nullptr || get_memory == nullptr) {
    return std::nullopt;
  }
  int device = 0;
  if (get(&device, static_cast<int>(ordinal)) != 0) return std::nullopt;
  Device found;
  std::array<char, 256> text = {};
  constexpr int kTextMax = static_cast<int>(text.size()) - 1;
  if (get_name(text.data(), kTextMax, device) == 0) found.name = text.data();
  text = {};
  if (get_bus_id(text.data(), kTextMax, device) == 0) found.pci_bus_id = text.data();
  std::size_t bytes = 0;
  if (get_memory(&bytes, device) == 0) found.total_memory_bytes = bytes;
  found.index = machine_index(ordinal, found.pci_bus_id);
  return found;
}

std::vector<int> visible_numbers(const char* variable) {
  std::vector<int> numbers;
  std::string_view rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    int number = -1;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (error != std::errc() || end != entry.data() + entry.size() || number < 0) break;
    numbers.push_back(number);
    rest.remove_prefix(entry.size() + (entry.size() < rest.size() ? 1 : 0));
  }
  return numbers;
}

}  // namespace unstarve::recording
