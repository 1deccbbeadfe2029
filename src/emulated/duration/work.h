#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// What a call asks of the device, as far as its duration depends on it: operation, shapes, types.
/// Plain data without memory of its own, made on the stack by the library that was called.
namespace unstarve::emulated {

enum class NumberType : std::uint8_t { kF64, kF32, kF16, kBf16, kF8, kI8, kI32, kI64, kC64, kC128 };

/// Bytes of one number: 8 for kF64, 2 for kBf16, ...
double bytes_of(NumberType type);

/// A kernel launched by name: its duration follows from the name, the grid and the block.
struct KernelWork {
  std::string_view name;  // as registered: mangled
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t shared_memory_bytes = 0;
  /// The launch's arguments, each by its address, as cudaLaunchKernel takes them; read during the
  /// call only. Some kernels' grids do not tell how much there is to do, but an integer does.
  /// nullptr: not known.
  const void* const* arguments = nullptr;
};

/// D[m, n] = A[m, k] B[k, n], `batch` times.
struct MatmulWork {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  NumberType input = NumberType::kF32;
  NumberType output = NumberType::kF32;
  bool tf32 = false;  // float inputs may be rounded for the tensor cores
  bool transposed_a = false;
  bool transposed_b = false;
};

enum class ConvolutionPass : std::uint8_t { kForward, kInputGradient, kWeightGradient };

/// A convolution of `spatial` dimensions (1..3; the unused ones are 1), by the forward pass's
/// shapes whichever pass it is.
struct ConvolutionWork {
  ConvolutionPass pass = ConvolutionPass::kForward;
  std::int64_t batch = 1;
  std::int64_t input_channels = 1;
  std::int64_t output_channels = 1;
  std::int64_t groups = 1;
  int spatial = 2;
  std::array<std::int64_t, 3> input = {1, 1, 1};
  std::array<std::int64_t, 3> filter = {1, 1, 1};
  std::array<std::int64_t, 3> output = {1, 1, 1};
  std::array<std::int64_t, 3> stride = {1, 1, 1};
  NumberType type = NumberType::kF32;
  bool tf32 = false;
  bool channels_last = false;
};

/// Whatever else a library computes: what it has to calculate and to move at the least.
struct OtherWork {
  double flops = 0;
  double bytes = 0;
  NumberType type = NumberType::kF32;
  bool tensor_cores = false;  // matrix arithmetic at the tensor cores' rate for `type`
  int kernels = 1;            // launched one after the other
};

/// How many there are of a grid's blocks, or a block's threads.
inline double volume(const std::array<std::uint32_t, 3>& sizes) {
  return static_cast<double>(sizes[0]) * sizes[1] * sizes[2];
}

}  // namespace unstarve::emulated
