#pragma once

#include <array>

#include "emulated/cudnn/cudnn_abi.h"

/// What the descriptors of cuDNN's layers hold; one struct behind each cudnn...Descriptor_t.
namespace unstarve::emulated::cudnn {

using Dimensions = std::array<int, kMaxDimensions>;

/// A tensor, or a filter; sizes in the order batch, channels, space whatever the layout.
struct TensorDescriptor {
  Type type = Type::kFloat;
  Format format = Format::kNchw;
  int count = 0;  // of dimensions
  Dimensions sizes = {};
  Dimensions strides = {};

  double numbers() const {
    double product = count > 0 ? 1 : 0;
    for (int i = 0; i < count; ++i) product *= sizes[static_cast<std::size_t>(i)];
    return product;
  }
  double bytes() const { return numbers() * bytes_of(number_type(type)); }
};

struct FilterDescriptor : TensorDescriptor {};

struct ConvolutionDescriptor {
  int spatial = 2;
  Dimensions strides = {1, 1, 1};
  int groups = 1;
  MathType math = MathType::kDefault;
};

/// How functions that only read them take them.
using Tensor = const TensorDescriptor*;
using Filter = const FilterDescriptor*;
using Convolution = const ConvolutionDescriptor*;

struct ActivationDescriptor {};
struct PoolingDescriptor {};
struct CtcLossDescriptor {};

struct DropoutDescriptor {
  float probability = 0;
};

struct SpatialTransformerDescriptor {
  Type type = Type::kFloat;
  double grid_points = 0;
};

}  // namespace unstarve::emulated::cudnn
