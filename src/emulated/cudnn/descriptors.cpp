#include "emulated/cudnn/descriptors.h"

#include <algorithm>

#include "emulated/cudnn/handle.h"

// Tensors, filters, convolutions: written once, read back by programs now and then.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

bool valid_count(int count, const int* sizes) {
  return count > 0 && count <= kMaxDimensions && sizes != nullptr;
}

/// What fits of the first `room` of `count` values.
void give(const Dimensions& values, int count, int room, int* out) {
  if (out == nullptr) return;
  for (int i = 0; i < std::min(count, room); ++i) out[i] = values[static_cast<std::size_t>(i)];
}

/// Strides of a tensor without gaps in the given order.
void fill_strides(TensorDescriptor* tensor) {
  int stride = 1;
  const bool channels_last = tensor->format == Format::kNhwc;
  if (channels_last && tensor->count > 1) {
    tensor->strides[1] = 1;
    stride = tensor->sizes[1];
  }
  for (int i = tensor->count - 1; i >= 0; --i) {
    if (channels_last && i == 1) continue;
    tensor->strides[static_cast<std::size_t>(i)] = stride;
    stride *= tensor->sizes[static_cast<std::size_t>(i)];
  }
}

Status set_sizes(TensorDescriptor* tensor, Type type, int count, const int* sizes) {
  if (tensor == nullptr || !valid_count(count, sizes)) return Status::kBadParam;
  tensor->type = type;
  tensor->count = count;
  std::copy_n(sizes, count, tensor->sizes.begin());
  fill_strides(tensor);
  return Status::kSuccess;
}

}  // namespace

// A type's name takes no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define UNSTARVE_CREATED_AND_DESTROYED(Descriptor)                         \
  Status cudnnCreate##Descriptor(Descriptor** out) { return create(out); } \
  Status cudnnDestroy##Descriptor(Descriptor* descriptor) { return destroy(descriptor); }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {

UNSTARVE_CREATED_AND_DESTROYED(TensorDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(FilterDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(ConvolutionDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(ActivationDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(PoolingDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(DropoutDescriptor)
UNSTARVE_CREATED_AND_DESTROYED(SpatialTransformerDescriptor)

Status cudnnCreateCTCLossDescriptor(CtcLossDescriptor** out) { return create(out); }

Status cudnnDestroyCTCLossDescriptor(CtcLossDescriptor* descriptor) { return destroy(descriptor); }

Status cudnnSetTensorNdDescriptor(TensorDescriptor* tensor, Type type, int count, const int* sizes,
                                  const int* strides) {
  if (strides == nullptr) return Status::kBadParam;
  if (const Status status = set_sizes(tensor, type, count, sizes); status != Status::kSuccess) {
    return status;
  }
  std::copy_n(strides, count, tensor->strides.begin());
  const bool channels_last = count > 2 && strides[1] == 1 && sizes[1] > 1;
  tensor->format = channels_last ? Format::kNhwc : Format::kNchw;
  return Status::kSuccess;
}

Status cudnnSetTensorNdDescriptorEx(TensorDescriptor* tensor, Format format, Type type, int count,
                                    const int* sizes) {
  if (tensor == nullptr) return Status::kBadParam;
  tensor->format = format;
  return set_sizes(tensor, type, count, sizes);
}

Status cudnnSetTensor4dDescriptor(TensorDescriptor* tensor, Format format, Type type, int n, int c,
                                  int h, int w) {
  const int sizes[] = {n, c, h, w};
  return cudnnSetTensorNdDescriptorEx(tensor, format, type, 4, sizes);
}

Status cudnnGetTensorNdDescriptor(const TensorDescriptor* tensor, int room, Type* type, int* count,
                                  int* sizes, int* strides) {
  if (tensor == nullptr) return Status::kBadParam;
  if (type != nullptr) *type = tensor->type;
  if (count != nullptr) *count = tensor->count;
  give(tensor->sizes, tensor->count, room, sizes);
  give(tensor->strides, tensor->count, room, strides);
  return Status::kSuccess;
}

Status cudnnSetFilterNdDescriptor(FilterDescriptor* filter, Type type, Format format, int count,
                                  const int* sizes) {
  if (filter == nullptr) return Status::kBadParam;
  filter->format = format;
  return set_sizes(filter, type, count, sizes);
}

Status cudnnSetFilter4dDescriptor(FilterDescriptor* filter, Type type, Format format, int k, int c,
                                  int h, int w) {
  const int sizes[] = {k, c, h, w};
  return cudnnSetFilterNdDescriptor(filter, type, format, 4, sizes);
}

Status cudnnGetFilterNdDescriptor(const FilterDescriptor* filter, int room, Type* type,
                                  Format* format, int* count, int* sizes) {
  if (filter == nullptr) return Status::kBadParam;
  if (type != nullptr) *type = filter->type;
  if (format != nullptr) *format = filter->format;
  if (count != nullptr) *count = filter->count;
  give(filter->sizes, filter->count, room, sizes);
  return Status::kSuccess;
}

Status cudnnSetConvolutionNdDescriptor(ConvolutionDescriptor* convolution, int spatial, const int*,
                                       const int* strides, const int*, Choice, Type) {
  if (convolution == nullptr || spatial < 1 || spatial > 3 || strides == nullptr) {
    return Status::kBadParam;
  }
  convolution->spatial = spatial;
  std::copy_n(strides, spatial, convolution->strides.begin());
  return Status::kSuccess;
}

Status cudnnSetConvolution2dDescriptor(ConvolutionDescriptor* convolution, int, int, int vertical,
                                       int horizontal, int, int, Choice mode, Type type) {
  const int strides[] = {vertical, horizontal};
  return cudnnSetConvolutionNdDescriptor(convolution, 2, nullptr, strides, nullptr, mode, type);
}

Status cudnnSetConvolutionGroupCount(ConvolutionDescriptor* convolution, int groups) {
  if (convolution == nullptr || groups < 1) return Status::kBadParam;
  convolution->groups = groups;
  return Status::kSuccess;
}

Status cudnnSetConvolutionMathType(ConvolutionDescriptor* convolution, MathType math) {
  if (convolution == nullptr) return Status::kBadParam;
  convolution->math = math;
  return Status::kSuccess;
}

Status cudnnSetActivationDescriptor(ActivationDescriptor* activation, Choice, Choice, double) {
  return activation == nullptr ? Status::kBadParam : Status::kSuccess;
}

}  // extern "C"
