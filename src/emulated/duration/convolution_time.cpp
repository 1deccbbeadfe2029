#include "emulated/duration/convolution_time.h"

#include <algorithm>
#include <cmath>

#include "emulated/duration/matmul_time.h"

namespace unstarve::emulated {

namespace {

// Against a matrix product of the same shape: addresses of patches are computed, and borders waste
// part of a tile. Plain cores suffer more, as their loads compete with arithmetic.
constexpr double kTensorRatio = 0.88;
constexpr double kPlainRatio = 0.8;
// Winograd's transforms for 3 x 3 filters save 2.25 of the products and cost some of that again.
constexpr double kWinogradGain = 1.5;
// A channel's filter of its own reuses little: memory decides, at a part of its rate; the weights'
// gradient adds up over all pixels at once.
constexpr double kDepthwiseRatio = 0.5;
constexpr double kDepthwiseWeightRatio = 0.25;

double volume(const std::array<std::int64_t, 3>& sizes) {
  return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) *
         static_cast<double>(sizes[2]);
}

struct Sizes {
  double batch = 1;
  double groups = 1;
  double channels_in = 1;   // of a group
  double channels_out = 1;  // of a group
  double inputs = 1;        // pixels
  double outputs = 1;
  double taps = 1;  // of the filter
  double strides = 1;
  double input_bytes = 0;
  double output_bytes = 0;
  double weight_bytes = 0;
};

Sizes sizes_of(const ConvolutionWork& work) {
  Sizes sizes;
  const auto positive = [](std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(value, 1));
  };
  sizes.batch = positive(work.batch);
  sizes.groups = positive(work.groups);
  sizes.channels_in = std::max(1.0, positive(work.input_channels) / sizes.groups);
  sizes.channels_out = std::max(1.0, positive(work.output_channels) / sizes.groups);
  sizes.inputs = volume(work.input);
  sizes.outputs = volume(work.output);
  sizes.taps = volume(work.filter);
  sizes.strides = std::max(1.0, volume(work.stride));
  const double number = bytes_of(work.type);
  sizes.input_bytes = number * sizes.batch * positive(work.input_channels) * sizes.inputs;
  sizes.output_bytes = number * sizes.batch * positive(work.output_channels) * sizes.outputs;
  sizes.weight_bytes = number * sizes.groups * sizes.channels_in * sizes.channels_out * sizes.taps;
  return sizes;
}

bool is_depthwise(const Sizes& sizes) { return sizes.groups > 1 && sizes.channels_in < 4; }

double depthwise_ns(const DeviceRates& rates, const ConvolutionWork& work, const Sizes& sizes) {
  const bool weights = work.pass == ConvolutionPass::kWeightGradient;
  const double ratio = weights ? kDepthwiseWeightRatio : kDepthwiseRatio;
  const double flops = 2 * sizes.batch * sizes.groups * sizes.channels_in * sizes.channels_out *
                       sizes.outputs * sizes.taps;
  const double memory =
      rates.memory_ns(sizes.input_bytes + sizes.output_bytes, rates.resident_threads(), ratio);
  return rates.fixed_ns() + std::max(memory, flops / (ratio * rates.plain_flops(work.type)) * 1e9);
}

/// The matrix product that a pass is. Channels count in steps of what the tensor cores load at
/// once.
TiledProduct product_of(const ConvolutionWork& work, const Sizes& sizes, bool tensor_cores) {
  const double step = tensor_cores && sizes.channels_in > 4 ? 16 / bytes_of(work.type) : 4;
  const double in = std::ceil(sizes.channels_in / step) * step;
  const double out = std::ceil(sizes.channels_out / step) * step;
  TiledProduct product;
  product.batch = sizes.groups;
  switch (work.pass) {
    case ConvolutionPass::kForward:
      product.m = sizes.batch * sizes.outputs;
      product.n = out;
      product.k = in * sizes.taps;
      break;
    case ConvolutionPass::kInputGradient:
      // Each input pixel is reached by one of `strides` parts of the filter.
      product.m = std::min(sizes.batch * sizes.inputs, sizes.batch * sizes.outputs * sizes.strides);
      product.n = in;
      product.k = out * std::max(1.0, sizes.taps / sizes.strides);
      if (sizes.taps < sizes.strides) product.m = sizes.batch * sizes.outputs;
      break;
    case ConvolutionPass::kWeightGradient:
      product.m = out;
      product.n = in * sizes.taps;
      product.k = sizes.batch * sizes.outputs;
      break;
  }
  product.bytes = sizes.input_bytes + sizes.output_bytes + sizes.weight_bytes;
  product.output_bytes = bytes_of(work.type);
  product.tensor_cores = tensor_cores;
  return product;
}

}  // namespace

double convolution_ns(const DeviceRates& rates, const ConvolutionWork& work) {
  const Sizes sizes = sizes_of(work);
  if (is_depthwise(sizes)) return depthwise_ns(rates, work, sizes);
  const bool half = work.type != NumberType::kF32 && work.type != NumberType::kF64;
  const bool tensor_cores = half || work.tf32;
  TiledProduct product = product_of(work, sizes, tensor_cores);
  product.flops_per_s =
      rates.matmul_flops(work.type, tensor_cores) * (tensor_cores ? kTensorRatio : kPlainRatio);
  const bool winograd = !tensor_cores && work.spatial == 2 && work.filter[0] == 3 &&
                        work.filter[1] == 3 && sizes.strides == 1 && sizes.groups == 1 &&
                        work.pass != ConvolutionPass::kWeightGradient;
  if (winograd) product.flops_per_s *= kWinogradGain;
  double ns = product_ns(rates, product);
  // The tensor cores' kernels want the channels last; else both tensors are written anew.
  if (tensor_cores && !work.channels_last) {
    ns += 2 * rates.fixed_ns() +
          rates.memory_ns(2 * sizes.input_bytes, rates.resident_threads(), 0.8) +
          rates.memory_ns(2 * sizes.output_bytes, rates.resident_threads(), 0.8);
  }
  return ns;
}

}  // namespace unstarve::emulated
