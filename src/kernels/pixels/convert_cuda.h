#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pixels/convert.h"

namespace unstarve::kernels {

/// A batch of 8-bit RGB images on the device.
struct CudaImages {
  const std::uint8_t* pixels = nullptr;  // [count][height][width][3]
  const std::uint8_t* flips = nullptr;   // [count], not zero: mirror left to right; may be nullptr
  int count = 0;
  int height = 0;
  int width = 0;
};

/// convert_pixels() for every image of a batch in one kernel, equal to it to the bit: scale,
/// normalise, round, flip and change of layout, each byte read once. `out` is device memory for
/// count * height * width * 3 values, aligned to their type. Returns a cudaError_t, 0 for success;
/// the kernel is queued on `stream` (a cudaStream_t) and not waited for.
int convert_images_cuda(const Conversion& conversion, const CudaImages& images, void* out,
                        void* stream);

}  // namespace unstarve::kernels
