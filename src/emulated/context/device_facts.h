#pragma once

#include <cstddef>

#include "emulated/abi/device_attribute.h"
#include "emulated/process/gpu.h"

/// What driver and runtime say of a GPU, out of its profile and what all GPUs of these years share.
namespace unstarve::emulated {

/// The version that libcuda reports: CUDA 13.2. A runtime of CUDA 12 runs on it, as on a real one.
inline constexpr int kDriverVersion = 13020;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockDimZ = 64;
inline constexpr int kMaxGridDimX = 2147483647;
inline constexpr int kMaxGridDimYz = 65535;
inline constexpr int kRegistersPerBlock = 65536;
inline constexpr int kReservedSharedBytes = 1024;  // of each block, by the driver

/// 0 for what a real GPU may have and an emulated one has not.
int device_attribute(const Gpu& gpu, cuda::DeviceAttribute attribute);

}  // namespace unstarve::emulated
