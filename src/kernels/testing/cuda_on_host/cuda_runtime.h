#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

// What our CUDA sources use of CUDA, for a build of the same sources for the CPU: a launch runs its
// threads one after the other, before it returns; device memory is the host's. Arithmetic, indices
// and the grid are those of the sources, so that their results can be compared without a GPU.

#define __global__
#define __device__

struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};

inline thread_local dim3 gridDim;
inline thread_local dim3 blockDim;
inline thread_local dim3 blockIdx;
inline thread_local dim3 threadIdx;

using cudaError_t = int;
using cudaStream_t = void*;
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr cudaError_t cudaErrorInvalidValue = 1;
inline constexpr cudaError_t cudaErrorInvalidConfiguration = 9;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fsub_rn(float a, float b) { return a - b; }

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

/// CUDA's bounds of a grid and a block hold as on a device.
template <class... Arguments>
cudaError_t cudaLaunchKernel(void (*kernel)(Arguments...), dim3 grid, dim3 block, void** arguments,
                             std::size_t, cudaStream_t) {
  constexpr unsigned kMostBlocksY = 65535;
  constexpr unsigned kMostThreads = 1024;
  if (grid.x == 0 || grid.y == 0 || grid.y > kMostBlocksY || block.x == 0 ||
      block.x > kMostThreads) {
    return cudaErrorInvalidConfiguration;
  }
  gridDim = grid;
  blockDim = block;
  const auto run = [&]<std::size_t... I>(std::index_sequence<I...>) {
    kernel(*static_cast<std::tuple_element_t<I, std::tuple<Arguments...>>*>(arguments[I])...);
  };
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
      for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) {
        run(std::index_sequence_for<Arguments...>());
      }
    }
  }
  return cudaSuccess;
}
