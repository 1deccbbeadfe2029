#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/process/gpu.h"

/// Memory and addresses apart (cuMemCreate, cuMemAddressReserve, cuMemMap), as allocators use them
/// that grow in place: torch's expandable segments. The host cannot touch these addresses.
namespace unstarve::emulated {

inline constexpr std::size_t kMappingGranularity = std::size_t{2} << 20U;

/// Bytes of a GPU's memory without an address; the number is a CUmemGenericAllocationHandle.
Outcome create_memory(Gpu& gpu, std::size_t bytes, std::uint64_t* handle);
/// The memory is given back when it is mapped nowhere any more.
Outcome release_memory(std::uint64_t handle);
/// One more holder of the memory that is mapped at `address`.
Outcome retain_memory_at(const void* address, std::uint64_t* handle);
struct MemoryFacts {
  int gpu = -1;
  std::size_t bytes = 0;
};
Outcome describe_memory(std::uint64_t handle, MemoryFacts* out);
/// A file descriptor that another process can turn into memory again. It holds zeros there.
Outcome export_memory(std::uint64_t handle, int* descriptor);
Outcome import_memory(int descriptor, std::uint64_t* handle);

Outcome reserve_addresses(std::size_t bytes, std::size_t alignment, void** out);
/// kInvalidValue: not what was reserved, or something is mapped there still.
Outcome free_addresses(void* address, std::size_t bytes);
Outcome map_memory(void* address, std::size_t bytes, std::size_t offset, std::uint64_t handle);
/// Everything that is mapped within.
Outcome unmap_memory(void* address, std::size_t bytes);
bool is_mapped(const void* address, std::size_t bytes);

}  // namespace unstarve::emulated
