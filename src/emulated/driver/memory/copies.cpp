#include "emulated/driver/driver_call.h"

/// Copies and fills.
namespace unstarve::emulated {
namespace {

using cuda::DevicePointer;
using cuda::DriverMemoryType;

Outcome copy_memory(const Copy2d& copy, void* stream) {
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    if (copy.width_bytes == 0 || copy.height == 0) return Outcome::kSuccess;
    if (copy.target == nullptr || copy.source == nullptr) return Outcome::kInvalidValue;
    return gpu.copy(found, copy);
  });
}

Outcome copy_bytes(void* target, const void* source, std::size_t bytes, void* stream) {
  const DriverCall call(Call::kMemcpyAsync);
  return copy_memory({target, bytes, source, bytes, bytes, 1, false}, stream);
}

Outcome copy_and_wait(void* target, const void* source, std::size_t bytes) {
  const DriverCall call(Call::kMemcpy);
  return copy_memory({target, bytes, source, bytes, bytes, 1, true}, nullptr);
}

/// Where a side of a copy of several dimensions lies; nullptr: in an array, which is not supported.
std::byte* side(DriverMemoryType type, const void* host, DevicePointer device) {
  if (type == DriverMemoryType::kArray) {
    report_missing("cuda", "cuMemcpy of arrays");
    return nullptr;
  }
  const void* const at = type == DriverMemoryType::kHost ? host : address_of(device);
  return static_cast<std::byte*>(const_cast<void*>(at));
}

Outcome copy_2d(const cuda::DriverMemcpy2d* shape, void* stream, bool waits) {
  if (shape == nullptr) return Outcome::kInvalidValue;
  std::byte* target = side(shape->target_type, shape->target_host, shape->target_device);
  const std::byte* source = side(shape->source_type, shape->source_host, shape->source_device);
  if (target == nullptr || source == nullptr) return Outcome::kNotSupported;
  target += shape->target_y * shape->target_pitch + shape->target_x_bytes;
  source += shape->source_y * shape->source_pitch + shape->source_x_bytes;
  return copy_memory({target, shape->target_pitch, source, shape->source_pitch, shape->width_bytes,
                      shape->height, waits},
                     stream);
}

Outcome copy_3d(const cuda::DriverMemcpy3d* shape, void* stream, bool waits) {
  if (shape == nullptr) return Outcome::kInvalidValue;
  std::byte* target = side(shape->target_type, shape->target_host, shape->target_device);
  const std::byte* source = side(shape->source_type, shape->source_host, shape->source_device);
  if (target == nullptr || source == nullptr) return Outcome::kNotSupported;
  target += (shape->target_z * shape->target_height + shape->target_y) * shape->target_pitch +
            shape->target_x_bytes;
  source += (shape->source_z * shape->source_height + shape->source_y) * shape->source_pitch +
            shape->source_x_bytes;
  Outcome outcome = Outcome::kSuccess;
  for (std::size_t z = 0; z < shape->depth && outcome == Outcome::kSuccess; ++z) {
    outcome = copy_memory({target, shape->target_pitch, source, shape->source_pitch,
                           shape->width_bytes, shape->height, waits},
                          stream);
    target += shape->target_pitch * shape->target_height;
    source += shape->source_pitch * shape->source_height;
  }
  return outcome;
}

/// Numbers of several bytes: kept bytes are right for those whose bytes are all the same, as zeros
/// are; of the others the first byte counts.
Outcome fill_memory(DevicePointer target, unsigned value, std::size_t bytes, void* stream,
                    bool waits) {
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    if (bytes == 0) return Outcome::kSuccess;
    return gpu.fill(found, address_of(target), static_cast<int>(value & 0xFFU), bytes, waits);
  });
}

}  // namespace

UNSTARVE_CUDA cuMemcpyHtoDAsync_v2(DevicePointer target, const void* source, std::size_t bytes,
                                   void* stream) {
  return copy_bytes(address_of(target), source, bytes, stream);
}

UNSTARVE_CUDA cuMemcpyDtoHAsync_v2(void* target, DevicePointer source, std::size_t bytes,
                                   void* stream) {
  return copy_bytes(target, address_of(source), bytes, stream);
}

UNSTARVE_CUDA cuMemcpyDtoDAsync_v2(DevicePointer target, DevicePointer source, std::size_t bytes,
                                   void* stream) {
  return copy_bytes(address_of(target), address_of(source), bytes, stream);
}

UNSTARVE_CUDA cuMemcpyAsync(DevicePointer target, DevicePointer source, std::size_t bytes,
                            void* stream) {
  return copy_bytes(address_of(target), address_of(source), bytes, stream);
}

UNSTARVE_CUDA cuMemcpyPeerAsync(DevicePointer target, void*, DevicePointer source, void*,
                                std::size_t bytes, void* stream) {
  return copy_bytes(address_of(target), address_of(source), bytes, stream);
}

UNSTARVE_CUDA cuMemcpyHtoD_v2(DevicePointer target, const void* source, std::size_t bytes) {
  return copy_and_wait(address_of(target), source, bytes);
}

UNSTARVE_CUDA cuMemcpyDtoH_v2(void* target, DevicePointer source, std::size_t bytes) {
  return copy_and_wait(target, address_of(source), bytes);
}

UNSTARVE_CUDA cuMemcpyDtoD_v2(DevicePointer target, DevicePointer source, std::size_t bytes) {
  return copy_and_wait(address_of(target), address_of(source), bytes);
}

UNSTARVE_CUDA cuMemcpy(DevicePointer target, DevicePointer source, std::size_t bytes) {
  return copy_and_wait(address_of(target), address_of(source), bytes);
}

UNSTARVE_CUDA cuMemcpyPeer(DevicePointer target, void*, DevicePointer source, void*,
                           std::size_t bytes) {
  return copy_and_wait(address_of(target), address_of(source), bytes);
}

UNSTARVE_CUDA cuMemcpy2D_v2(const cuda::DriverMemcpy2d* shape) {
  const DriverCall call(Call::kMemcpy);
  return copy_2d(shape, nullptr, true);
}

UNSTARVE_CUDA cuMemcpy2DUnaligned_v2(const cuda::DriverMemcpy2d* shape) {
  const DriverCall call(Call::kMemcpy);
  return copy_2d(shape, nullptr, true);
}

UNSTARVE_CUDA cuMemcpy2DAsync_v2(const cuda::DriverMemcpy2d* shape, void* stream) {
  const DriverCall call(Call::kMemcpyAsync);
  return copy_2d(shape, stream, false);
}

UNSTARVE_CUDA cuMemcpy3D_v2(const cuda::DriverMemcpy3d* shape) {
  const DriverCall call(Call::kMemcpy);
  return copy_3d(shape, nullptr, true);
}

UNSTARVE_CUDA cuMemcpy3DAsync_v2(const cuda::DriverMemcpy3d* shape, void* stream) {
  const DriverCall call(Call::kMemcpyAsync);
  return copy_3d(shape, stream, false);
}

UNSTARVE_CUDA cuMemsetD8_v2(DevicePointer target, unsigned char value, std::size_t count) {
  const DriverCall call(Call::kMemset);
  return fill_memory(target, value, count, nullptr, true);
}

UNSTARVE_CUDA cuMemsetD16_v2(DevicePointer target, unsigned short value, std::size_t count) {
  const DriverCall call(Call::kMemset);
  return fill_memory(target, value, count * 2, nullptr, true);
}

UNSTARVE_CUDA cuMemsetD32_v2(DevicePointer target, unsigned value, std::size_t count) {
  const DriverCall call(Call::kMemset);
  return fill_memory(target, value, count * 4, nullptr, true);
}

UNSTARVE_CUDA cuMemsetD8Async(DevicePointer target, unsigned char value, std::size_t count,
                              void* stream) {
  const DriverCall call(Call::kMemsetAsync);
  return fill_memory(target, value, count, stream, false);
}

UNSTARVE_CUDA cuMemsetD16Async(DevicePointer target, unsigned short value, std::size_t count,
                               void* stream) {
  const DriverCall call(Call::kMemsetAsync);
  return fill_memory(target, value, count * 2, stream, false);
}

UNSTARVE_CUDA cuMemsetD32Async(DevicePointer target, unsigned value, std::size_t count,
                               void* stream) {
  const DriverCall call(Call::kMemsetAsync);
  return fill_memory(target, value, count * 4, stream, false);
}

}  // namespace unstarve::emulated
