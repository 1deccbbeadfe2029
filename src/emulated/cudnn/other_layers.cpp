#include "emulated/cudnn/descriptors.h"
#include "emulated/cudnn/handle.h"

// Pooling, dropout's state, the CTC loss, spatial transformers: all bound by moving their tensors.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

constexpr std::size_t kRandomStateBytes = 24;  // of one thread

Status transform(Handle* handle, const char* name, const SpatialTransformerDescriptor* transformer,
                 double numbers) {
  if (transformer == nullptr) return Status::kBadParam;
  const NumberType type = number_type(transformer->type);
  return move_bytes(handle, name, numbers * bytes_of(type), type);
}

Status ctc_loss(Handle* handle, const char* name, Tensor probabilities, Tensor gradients) {
  if (probabilities == nullptr) return Status::kBadParam;
  const double bytes = probabilities->bytes() + (gradients != nullptr ? gradients->bytes() : 0);
  return move_bytes(handle, name, 2 * bytes, NumberType::kF32);
}

Status ctc_workspace(Tensor probabilities, std::size_t* bytes) {
  if (probabilities == nullptr || bytes == nullptr) return Status::kBadParam;
  *bytes = static_cast<std::size_t>(probabilities->bytes());
  return Status::kSuccess;
}

}  // namespace

extern "C" {

Status cudnnSetPooling2dDescriptor(PoolingDescriptor* pooling, Choice, Choice, int, int, int, int,
                                   int, int) {
  return pooling == nullptr ? Status::kBadParam : Status::kSuccess;
}

Status cudnnPoolingForward(Handle* handle, const PoolingDescriptor* pooling, const void*, Tensor x,
                           const void*, const void*, Tensor y, void*) {
  if (pooling == nullptr || x == nullptr || y == nullptr) return Status::kBadParam;
  return move_bytes(handle, "emulated cudnnPoolingForward", x->bytes() + y->bytes(),
                    number_type(x->type));
}

Status cudnnDropoutGetStatesSize(Handle* handle, std::size_t* bytes) {
  if (handle == nullptr || bytes == nullptr) return Status::kBadParam;
  Gpu* const gpu = gpu_at(handle->target.gpu);
  if (gpu == nullptr) return Status::kNotInitialized;
  const Profile& profile = gpu->profile();
  const int threads = profile.multiprocessors * profile.max_threads_per_multiprocessor;
  *bytes = static_cast<std::size_t>(threads) * kRandomStateBytes;
  return Status::kSuccess;
}

Status cudnnSetDropoutDescriptor(DropoutDescriptor* dropout, Handle* handle, float probability,
                                 void* states, std::size_t bytes, unsigned long long) {
  if (dropout == nullptr) return Status::kBadParam;
  dropout->probability = probability;
  if (states == nullptr) return Status::kSuccess;
  return move_bytes(handle, "emulated cudnnSetDropoutDescriptor", static_cast<double>(bytes),
                    NumberType::kI32);
}

Status cudnnRestoreDropoutDescriptor(DropoutDescriptor* dropout, Handle*, float probability, void*,
                                     std::size_t, unsigned long long) {
  if (dropout == nullptr) return Status::kBadParam;
  dropout->probability = probability;
  return Status::kSuccess;
}

Status cudnnSetCTCLossDescriptorEx(CtcLossDescriptor* loss, Type, Choice, Choice) {
  return loss == nullptr ? Status::kBadParam : Status::kSuccess;
}

Status cudnnSetCTCLossDescriptor_v9(CtcLossDescriptor* loss, Type, Choice, Choice, int) {
  return loss == nullptr ? Status::kBadParam : Status::kSuccess;
}

Status cudnnGetCTCLossWorkspaceSize(Handle*, Tensor probabilities, Tensor, const int*, const int*,
                                    const int*, Choice, const CtcLossDescriptor*,
                                    std::size_t* bytes) {
  return ctc_workspace(probabilities, bytes);
}

Status cudnnGetCTCLossWorkspaceSize_v8(Handle*, Choice, const CtcLossDescriptor*,
                                       Tensor probabilities, Tensor, std::size_t* bytes) {
  return ctc_workspace(probabilities, bytes);
}

Status cudnnCTCLoss(Handle* handle, Tensor probabilities, const void*, const int*, const int*,
                    const int*, void*, Tensor gradients, void*, Choice, const CtcLossDescriptor*,
                    void*, std::size_t) {
  return ctc_loss(handle, "emulated cudnnCTCLoss", probabilities, gradients);
}

Status cudnnCTCLoss_v8(Handle* handle, Choice, const CtcLossDescriptor*, Tensor probabilities,
                       const void*, const int*, const int*, const int*, void*, Tensor gradients,
                       void*, std::size_t, void*) {
  return ctc_loss(handle, "emulated cudnnCTCLoss", probabilities, gradients);
}

Status cudnnSetSpatialTransformerNdDescriptor(SpatialTransformerDescriptor* transformer, Choice,
                                              Type type, int count, const int* sizes) {
  if (transformer == nullptr || sizes == nullptr || count < 1 || count > kMaxDimensions) {
    return Status::kBadParam;
  }
  transformer->type = type;
  transformer->grid_points = 1;
  for (int i = 0; i < count; ++i) {
    if (i != 1) transformer->grid_points *= sizes[i];  // all but the channels
  }
  return Status::kSuccess;
}

Status cudnnSpatialTfGridGeneratorForward(Handle* handle,
                                          const SpatialTransformerDescriptor* transformer,
                                          const void*, void*) {
  return transform(handle, "emulated cudnnSpatialTfGridGeneratorForward", transformer,
                   transformer == nullptr ? 0 : 2 * transformer->grid_points);
}

Status cudnnSpatialTfGridGeneratorBackward(Handle* handle,
                                           const SpatialTransformerDescriptor* transformer,
                                           const void*, void*) {
  return transform(handle, "emulated cudnnSpatialTfGridGeneratorBackward", transformer,
                   transformer == nullptr ? 0 : 2 * transformer->grid_points);
}

Status cudnnSpatialTfSamplerForward(Handle* handle, SpatialTransformerDescriptor* transformer,
                                    const void*, Tensor x, const void*, const void*, const void*,
                                    Tensor y, void*) {
  if (transformer == nullptr || x == nullptr || y == nullptr) return Status::kBadParam;
  return transform(handle, "emulated cudnnSpatialTfSamplerForward", transformer,
                   x->numbers() + y->numbers() + 2 * transformer->grid_points);
}

Status cudnnSpatialTfSamplerBackward(Handle* handle, SpatialTransformerDescriptor* transformer,
                                     const void*, Tensor x, const void*, const void*, Tensor dx,
                                     void*, const void*, Tensor dy, const void*, const void*,
                                     const void*, void*) {
  if (transformer == nullptr || x == nullptr || dx == nullptr || dy == nullptr) {
    return Status::kBadParam;
  }
  return transform(handle, "emulated cudnnSpatialTfSamplerBackward", transformer,
                   x->numbers() + 2 * dx->numbers() + dy->numbers() + 4 * transformer->grid_points);
}

}  // extern "C"
