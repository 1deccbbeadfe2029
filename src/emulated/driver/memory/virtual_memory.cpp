#include "emulated/context/mapped_memory.h"
#include "emulated/driver/driver_call.h"

/// Memory and addresses apart.
namespace unstarve::emulated {
namespace {

using cuda::DevicePointer;
using cuda::MemoryProperties;

bool is_device_memory(const MemoryProperties* properties) {
  return properties != nullptr && properties->type == cuda::kAllocationPinned &&
         properties->location.type == cuda::kLocationDevice;
}

}  // namespace

UNSTARVE_CUDA cuMemGetAllocationGranularity(std::size_t* bytes, const MemoryProperties* properties,
                                            int) {
  if (!is_device_memory(properties)) return Outcome::kInvalidValue;
  return answer(bytes, kMappingGranularity);
}

UNSTARVE_CUDA cuMemAddressReserve(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                                  DevicePointer, unsigned long long flags) {
  if (pointer == nullptr || flags != 0) return Outcome::kInvalidValue;
  void* address = nullptr;
  const Outcome outcome = reserve_addresses(bytes, alignment, &address);
  if (outcome == Outcome::kSuccess) *pointer = pointer_to(address);
  return outcome;
}

UNSTARVE_CUDA cuMemAddressFree(DevicePointer pointer, std::size_t bytes) {
  return free_addresses(address_of(pointer), bytes);
}

UNSTARVE_CUDA cuMemCreate(std::uint64_t* handle, std::size_t bytes,
                          const MemoryProperties* properties, unsigned long long flags) {
  if (!is_device_memory(properties) || flags != 0) return Outcome::kInvalidValue;
  if ((properties->handle_types & ~cuda::kHandlePosixDescriptor) != 0) {
    return Outcome::kNotSupported;
  }
  return on_device(properties->location.id,
                   [&](Gpu& gpu) { return create_memory(gpu, bytes, handle); });
}

UNSTARVE_CUDA cuMemRelease(std::uint64_t handle) { return release_memory(handle); }

UNSTARVE_CUDA cuMemRetainAllocationHandle(std::uint64_t* handle, void* address) {
  return retain_memory_at(address, handle);
}

UNSTARVE_CUDA cuMemGetAllocationPropertiesFromHandle(MemoryProperties* properties,
                                                     std::uint64_t handle) {
  MemoryFacts facts;
  const Outcome known = describe_memory(handle, &facts);
  if (known != Outcome::kSuccess || properties == nullptr) return Outcome::kInvalidValue;
  *properties = {};
  properties->type = cuda::kAllocationPinned;
  properties->location = {cuda::kLocationDevice, facts.gpu};
  return Outcome::kSuccess;
}

UNSTARVE_CUDA cuMemMap(DevicePointer pointer, std::size_t bytes, std::size_t offset,
                       std::uint64_t handle, unsigned long long flags) {
  if (flags != 0) return Outcome::kInvalidValue;
  return map_memory(address_of(pointer), bytes, offset, handle);
}

UNSTARVE_CUDA cuMemUnmap(DevicePointer pointer, std::size_t bytes) {
  return unmap_memory(address_of(pointer), bytes);
}

UNSTARVE_CUDA cuMemSetAccess(DevicePointer pointer, std::size_t bytes,
                             const cuda::MemoryAccess* access, std::size_t count) {
  if (access == nullptr || count == 0) return Outcome::kInvalidValue;
  return is_mapped(address_of(pointer), bytes) ? Outcome::kSuccess : Outcome::kInvalidValue;
}

UNSTARVE_CUDA cuMemGetAccess(unsigned long long* flags, const cuda::MemoryLocation* location,
                             DevicePointer pointer) {
  if (location == nullptr || !is_mapped(address_of(pointer), 1)) return Outcome::kInvalidValue;
  return answer(flags, 3ULL);  // read and write
}

UNSTARVE_CUDA cuMemExportToShareableHandle(void* shared, std::uint64_t handle, int type,
                                           unsigned long long flags) {
  if (flags != 0) return Outcome::kInvalidValue;
  if (type != cuda::kHandlePosixDescriptor) return Outcome::kNotSupported;
  return export_memory(handle, static_cast<int*>(shared));
}

UNSTARVE_CUDA cuMemImportFromShareableHandle(std::uint64_t* handle, void* shared, int type) {
  if (type != cuda::kHandlePosixDescriptor) return Outcome::kNotSupported;
  return import_memory(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)), handle);
}

}  // namespace unstarve::emulated
