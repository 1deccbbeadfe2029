#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/pixels/convert_cuda.h"

namespace unstarve::kernels {
namespace {

constexpr int kThreads = 256;

/// Conversion without std::array, whose members device code may not call.
struct Arithmetic {
  ValueScale scale;
  bool normalise;
  bool planar;
  float mean[3];
  float deviation[3];

  /// The _rn intrinsics round each step, whatever the compiler is told about contraction.
  __device__ float operator()(std::uint8_t byte, int channel) const {
    float value = static_cast<float>(byte);
    if (scale == ValueScale::kDivide) value = __fdiv_rn(value, 255.0F);
    if (scale == ValueScale::kMultiply) value = __fmul_rn(value, static_cast<float>(1.0 / 255));
    if (!normalise) return value;
    return __fdiv_rn(__fsub_rn(value, mean[channel]), deviation[channel]);
  }
};

template <class Value>
__device__ Value rounded(float value);
template <>
__device__ float rounded<float>(float value) {
  return value;
}
template <>
__device__ __half rounded<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 rounded<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ std::uint8_t rounded<std::uint8_t>(float value) {
  return static_cast<std::uint8_t>(value);
}

/// One thread per pixel; blockIdx.y counts images, so that no index exceeds one image but `image`.
template <class Value>
__global__ void convert(Arithmetic arithmetic, CudaImages images, Value* out) {
  const std::size_t plane = static_cast<std::size_t>(images.height) * images.width;
  const std::size_t pixel = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pixel >= plane) return;
  for (int image = blockIdx.y; image < images.count; image += gridDim.y) {
    std::size_t source = pixel;
    if (images.flips != nullptr && images.flips[image] != 0) {
      const std::size_t column = pixel % images.width;
      source = pixel - column + (images.width - 1 - column);
    }
    const std::size_t first = image * plane * 3;
    const std::uint8_t* bytes = images.pixels + first + 3 * source;
    for (int channel = 0; channel < 3; ++channel) {
      const std::size_t at = arithmetic.planar ? channel * plane + pixel : 3 * pixel + channel;
      out[first + at] = rounded<Value>(arithmetic(bytes[channel], channel));
    }
  }
}

template <class Value>
int launch(const Arithmetic& arithmetic, const CudaImages& images, void* out, void* stream) {
  const std::size_t plane = static_cast<std::size_t>(images.height) * images.width;
  constexpr int kMostRows = 65535;  // CUDA's bound for a grid's second dimension
  const dim3 grid(static_cast<unsigned>((plane + kThreads - 1) / kThreads),
                  static_cast<unsigned>(images.count < kMostRows ? images.count : kMostRows));
  // As <<<...>>> does, in a form that any C++ compiler reads: tests build this file for the CPU.
  Arithmetic of_each = arithmetic;
  CudaImages batch = images;
  auto* values = static_cast<Value*>(out);
  void* arguments[] = {&of_each, &batch, &values};
  const cudaError_t launched = cudaLaunchKernel(&convert<Value>, grid, dim3(kThreads), arguments, 0,
                                                static_cast<cudaStream_t>(stream));
  if (launched != cudaSuccess) cudaGetLastError();  // it is told here, and to nobody else
  return static_cast<int>(launched);
}

}  // namespace

int convert_images_cuda(const Conversion& conversion, const CudaImages& images, void* out,
                        void* stream) {
  if (images.count <= 0 || images.height <= 0 || images.width <= 0) return cudaSuccess;
  Arithmetic arithmetic = {conversion.scale, conversion.normalise, conversion.planar, {}, {}};
  for (int channel = 0; channel < 3; ++channel) {
    arithmetic.mean[channel] = conversion.mean[channel];
    arithmetic.deviation[channel] = conversion.deviation[channel];
  }
  switch (conversion.type) {
    case ValueType::kUint8:
      arithmetic.scale = ValueScale::kNone;
      arithmetic.normalise = false;
      return launch<std::uint8_t>(arithmetic, images, out, stream);
    case ValueType::kFloat32: return launch<float>(arithmetic, images, out, stream);
    case ValueType::kFloat16: return launch<__half>(arithmetic, images, out, stream);
    case ValueType::kBfloat16: return launch<__nv_bfloat16>(arithmetic, images, out, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace unstarve::kernels
