#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::emulated {

enum class MemoryPlace : std::uint8_t { kUnregistered, kPinnedHost, kDevice, kManaged };
enum class CopyKind : std::uint8_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };

/// What is known of an address.
struct Allocation {
  MemoryPlace place = MemoryPlace::kUnregistered;
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t id = 0;     // never given out twice
  int gpu = -1;             // index; -1: host memory that no context owns
  bool registered = false;  // by cudaHostRegister: the program's own memory
};

inline bool on_device(const Allocation& allocation) {
  return allocation.place == MemoryPlace::kDevice || allocation.place == MemoryPlace::kManaged;
}

struct Copy2d {
  void* target = nullptr;
  std::size_t target_pitch = 0;
  const void* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  bool waits = false;  // a synchronous call: cudaMemcpy, not cudaMemcpyAsync
};

}  // namespace unstarve::emulated
