#include "device/emulated/training_model.h"

#include <array>

namespace unstarve::device::emulated {

namespace {

// In the order of KernelId. Loads and memory ratios are estimates: convolutions keep the tensor
// pipes busy, normalisation and elementwise kernels keep the memory busy.
constexpr std::array<KernelKind, 16> kKinds = {{
    {"xmma_fprop_implicit_gemm_nhwc", 0.90, 0.45},
    {"xmma_dgrad_implicit_gemm_nhwc", 0.90, 0.50},
    {"xmma_wgrad_implicit_gemm_nhwc", 0.88, 0.50},
    {"bn_fw_tr_1C11_kernel_NHWC", 0.62, 0.95},
    {"bn_bw_1C11_kernel_NHWC", 0.64, 0.95},
    {"vectorized_elementwise_kernel<add_relu>", 0.60, 0.97},
    {"vectorized_elementwise_kernel<add_relu_backward>", 0.60, 0.97},
    {"max_pool_forward_nhwc", 0.58, 0.90},
    {"max_pool_backward_nhwc", 0.58, 0.90},
    {"reduce_kernel<mean>", 0.50, 0.85},
    {"elementwise_kernel<mean_backward>", 0.50, 0.85},
    {"gemm_tf32_128x64_nn", 0.80, 0.55},
    {"softmax_warp_forward", 0.40, 0.60},
    {"softmax_warp_backward", 0.40, 0.60},
    {"multi_tensor_apply_kernel<sgd_momentum>", 0.60, 0.97},
    {"vectorized_elementwise_kernel<normalize_uint8>", 0.55, 0.95},
}};

}  // namespace

std::span<const KernelKind> kernel_kinds() { return kKinds; }

KernelKind kernel_kind_named(std::string_view name) {
  for (const KernelKind& kind : kKinds) {
    if (kind.name == name) return kind;
  }
  return {"", 0.7, 0.7};
}

}  // namespace unstarve::device::emulated
