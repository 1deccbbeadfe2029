#include "emulated/runtime/copies.h"

#include "emulated/runtime/runtime_call.h"

/// Copies and fills. Which side lies where is what the addresses say (unified addressing); a stated
/// direction has to agree with them.
namespace unstarve::emulated {

using cuda::MemcpyKind;

namespace {

bool on_device_side(const void* address) {
  return find_allocation(address).place != MemoryPlace::kUnregistered;
}

Outcome check_direction(const void* target, const void* source, MemcpyKind kind) {
  bool target_known = false;
  bool source_known = false;
  switch (kind) {
    case MemcpyKind::kHostToHost:
    case MemcpyKind::kDefault: break;
    case MemcpyKind::kHostToDevice: target_known = true; break;
    case MemcpyKind::kDeviceToHost: source_known = true; break;
    case MemcpyKind::kDeviceToDevice: target_known = source_known = true; break;
    default: return Outcome::kInvalidMemcpyDirection;
  }
  const bool agrees =
      (!target_known || on_device_side(target)) && (!source_known || on_device_side(source));
  return agrees ? Outcome::kSuccess : Outcome::kInvalidValue;
}

Outcome copy_3d(const cuda::Memcpy3d* parameters, void* stream, bool waits) {
  if (parameters == nullptr) return Outcome::kInvalidValue;
  if (parameters->source_array != nullptr || parameters->target_array != nullptr) {
    report_missing("cudart", "cudaMemcpy3D of arrays");
    return Outcome::kNotSupported;
  }
  const cuda::Extent& extent = parameters->extent;
  const auto begin = [](const cuda::PitchedPointer& memory, const cuda::Position& at) {
    return static_cast<std::byte*>(memory.pointer) + (at.z * memory.height + at.y) * memory.pitch +
           at.x;
  };
  std::byte* target = begin(parameters->target, parameters->target_position);
  const std::byte* source = begin(parameters->source, parameters->source_position);
  Outcome outcome = Outcome::kSuccess;
  for (std::size_t z = 0; z < extent.depth && outcome == Outcome::kSuccess; ++z) {
    Copy2d copy = {target,       parameters->target.pitch,
                   source,       parameters->source.pitch,
                   extent.width, extent.height,
                   waits};
    outcome = copy_memory(copy, parameters->kind, stream);
    target += parameters->target.pitch * parameters->target.height;
    source += parameters->source.pitch * parameters->source.height;
  }
  return outcome;
}

Outcome fill_memory(void* target, int value, std::size_t bytes, void* stream, bool waits) {
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    if (bytes == 0) return Outcome::kSuccess;
    if (!on_device_side(target)) return Outcome::kInvalidValue;
    return gpu.fill(found, target, value, bytes, waits);
  });
}

/// Rows with gaps between them are one fill of what they hold: a device writes no gap.
Outcome fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                  void* stream, bool waits) {
  if (pitch == width || height <= 1) {
    return fill_memory(target, value, width * height, stream, waits);
  }
  if (width > pitch) return Outcome::kInvalidValue;
  Outcome outcome = Outcome::kSuccess;
  for (std::size_t row = 0; row < height && outcome == Outcome::kSuccess; ++row) {
    std::byte* const begin = static_cast<std::byte*>(target) + row * pitch;
    outcome = fill_memory(begin, value, width, stream, waits && row + 1 == height);
  }
  return outcome;
}

}  // namespace

Outcome copy_memory(const Copy2d& copy, MemcpyKind kind, void* stream) {
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    if (copy.width_bytes == 0 || copy.height == 0) return Outcome::kSuccess;
    if (copy.target == nullptr || copy.source == nullptr) return Outcome::kInvalidValue;
    if (copy.height > 1 &&
        (copy.target_pitch < copy.width_bytes || copy.source_pitch < copy.width_bytes)) {
      return Outcome::kInvalidValue;
    }
    const Outcome agrees = check_direction(copy.target, copy.source, kind);
    return agrees == Outcome::kSuccess ? gpu.copy(found, copy) : agrees;
  });
}

UNSTARVE_CUDART cudaMemcpy(void* target, const void* source, std::size_t bytes, MemcpyKind kind) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_memory({target, bytes, source, bytes, bytes, 1, true}, kind, nullptr));
}

UNSTARVE_CUDART cudaMemcpyAsync(void* target, const void* source, std::size_t bytes,
                                MemcpyKind kind, void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_memory({target, bytes, source, bytes, bytes, 1, false}, kind, stream));
}

UNSTARVE_CUDART cudaMemcpy2D(void* target, std::size_t target_pitch, const void* source,
                             std::size_t source_pitch, std::size_t width, std::size_t height,
                             MemcpyKind kind) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_memory({target, target_pitch, source, source_pitch, width, height, true},
                              kind, nullptr));
}

UNSTARVE_CUDART cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source,
                                  std::size_t source_pitch, std::size_t width, std::size_t height,
                                  MemcpyKind kind, void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_memory({target, target_pitch, source, source_pitch, width, height, false},
                              kind, stream));
}

UNSTARVE_CUDART cudaMemcpy3D(const cuda::Memcpy3d* parameters) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_3d(parameters, nullptr, true));
}

UNSTARVE_CUDART cudaMemcpy3DAsync(const cuda::Memcpy3d* parameters, void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_3d(parameters, stream, false));
}

UNSTARVE_CUDART cudaMemcpyPeer(void* target, int, const void* source, int, std::size_t bytes) {
  const ApiCall call(Call::kMemcpy);
  return remember(copy_memory({target, bytes, source, bytes, bytes, 1, true},
                              MemcpyKind::kDeviceToDevice, nullptr));
}

UNSTARVE_CUDART cudaMemcpyPeerAsync(void* target, int, const void* source, int, std::size_t bytes,
                                    void* stream) {
  const ApiCall call(Call::kMemcpyAsync);
  return remember(copy_memory({target, bytes, source, bytes, bytes, 1, false},
                              MemcpyKind::kDeviceToDevice, stream));
}

UNSTARVE_CUDART cudaMemset(void* target, int value, std::size_t bytes) {
  const ApiCall call(Call::kMemset);
  return remember(fill_memory(target, value, bytes, nullptr, true));
}

UNSTARVE_CUDART cudaMemsetAsync(void* target, int value, std::size_t bytes, void* stream) {
  const ApiCall call(Call::kMemsetAsync);
  return remember(fill_memory(target, value, bytes, stream, false));
}

UNSTARVE_CUDART cudaMemset2D(void* target, std::size_t pitch, int value, std::size_t width,
                             std::size_t height) {
  const ApiCall call(Call::kMemset);
  return remember(fill_rows(target, pitch, value, width, height, nullptr, true));
}

UNSTARVE_CUDART cudaMemset2DAsync(void* target, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height, void* stream) {
  const ApiCall call(Call::kMemsetAsync);
  return remember(fill_rows(target, pitch, value, width, height, stream, false));
}

}  // namespace unstarve::emulated
