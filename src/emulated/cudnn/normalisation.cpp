#include "emulated/cudnn/descriptors.h"
#include "emulated/cudnn/handle.h"

// Batch normalisation: bound by reading and writing its tensors. In training the input is read for
// the statistics and once more to be normalised.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

/// `passes` over the tensor x, and those over what is fused behind the normalisation.
Status normalise(Handle* handle, const char* name, Tensor x, double passes) {
  if (x == nullptr) return Status::kBadParam;
  return move_bytes(handle, name, passes * x->bytes(), number_type(x->type));
}

double fused_passes(NormOps ops) { return ops == NormOps::kAddActivation ? 1 : 0; }

Status no_workspace(std::size_t* bytes) {
  if (bytes == nullptr) return Status::kBadParam;
  *bytes = 0;
  return Status::kSuccess;
}

}  // namespace

extern "C" {

Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle*, Choice, NormOps, Tensor,
                                                                Tensor, Tensor, Tensor,
                                                                const ActivationDescriptor*,
                                                                std::size_t* bytes) {
  return no_workspace(bytes);
}

Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle*, Choice, NormOps, Tensor, Tensor,
                                                         Tensor, Tensor, Tensor, Tensor,
                                                         const ActivationDescriptor*,
                                                         std::size_t* bytes) {
  return no_workspace(bytes);
}

Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle*, Choice, NormOps ops,
                                                            const ActivationDescriptor*, Tensor x,
                                                            std::size_t* bytes) {
  if (x == nullptr || bytes == nullptr) return Status::kBadParam;
  // A bit for each number says where the activation let it pass.
  const double mask_bytes = ops == NormOps::kNorm ? 0 : x->numbers() / 8;
  *bytes = static_cast<std::size_t>(mask_bytes) + 16;
  return Status::kSuccess;
}

Status cudnnBatchNormalizationForwardTrainingEx(Handle* handle, Choice, NormOps ops, const void*,
                                                const void*, Tensor x, const void*, Tensor,
                                                const void*, Tensor, void*, Tensor, const void*,
                                                const void*, double, void*, void*, double, void*,
                                                void*, const ActivationDescriptor*, void*,
                                                std::size_t, void*, std::size_t) {
  return normalise(handle, "emulated cudnnBatchNormalizationForwardTrainingEx", x,
                   3 + fused_passes(ops));
}

Status cudnnBatchNormalizationBackwardEx(Handle* handle, Choice, NormOps ops, const void*,
                                         const void*, const void*, const void*, Tensor x,
                                         const void*, Tensor, const void*, Tensor, const void*,
                                         Tensor, void*, Tensor, void*, Tensor, const void*,
                                         const void*, void*, void*, double, const void*,
                                         const void*, const ActivationDescriptor*, void*,
                                         std::size_t, void*, std::size_t) {
  return normalise(handle, "emulated cudnnBatchNormalizationBackwardEx", x, 5 + fused_passes(ops));
}

Status cudnnBatchNormalizationForwardInference(Handle* handle, Choice, const void*, const void*,
                                               Tensor x, const void*, Tensor, void*, Tensor,
                                               const void*, const void*, const void*, const void*,
                                               double) {
  return normalise(handle, "emulated cudnnBatchNormalizationForwardInference", x, 2);
}

}  // extern "C"
