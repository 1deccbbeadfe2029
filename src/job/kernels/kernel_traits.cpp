#include "job/kernels/kernel_traits.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>

namespace unstarve::job {

namespace {

std::string lower_case(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool has_any(const std::string& name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&name](std::string_view word) {
    return name.find(word) != std::string::npos;
  });
}

/// `align1` or `align2`, and not `align16`.
bool says_alignment_below_four(const std::string& name) {
  constexpr std::string_view kWord = "align";
  for (auto at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
    const std::size_t digit = at + kWord.size();
    if (digit >= name.size() || (name[digit] != '1' && name[digit] != '2')) continue;
    if (digit + 1 == name.size() ||
        std::isdigit(static_cast<unsigned char>(name[digit + 1])) == 0) {
      return true;
    }
  }
  return false;
}

bool is_product(const std::string& name) {
  return has_any(name, {"gemm", "gemv", "xmma", "cutlass", "convolve", "convolution", "scudnn",
                        "hcudnn", "wgrad", "dgrad", "fprop", "winograd", "flash_fwd", "flash_bwd",
                        "fmha", "nvjet", "cijk_"});
}

bool is_bound_by_memory(const std::string& name) {
  return has_any(name, {"elementwise", "reduce_kernel", "multi_tensor_apply",
                        "batch_norm",  "bn_fw",         "bn_bw",
                        "layer_norm",  "layernorm",     "rmsnorm",
                        "rms_norm",    "group_norm",    "softmax",
                        "dropout",     "catarray",      "index",
                        "gather",      "scatter",       "transpose",
                        "nchwtonhwc",  "nhwctonchw",    "pool",
                        "upsample",    "embedding",     "triton_poi",
                        "triton_red",  "triton_per",    "copy_kernel"});
}

KernelTraits::Units units_of(const std::string& name) {
  using Units = KernelTraits::Units;
  // An emulated GPU names functions, not kernels: "cublasGemmEx" is no sgemm.
  if (name.rfind("emulated", 0) == 0) return Units::kUnknown;
  if (has_any(name, {"tensorop", "tf32", "884", "1688", "16816", "hmma", "imma", "wgmma", "gmma",
                     "bf16", "hcudnn", "flash_fwd", "flash_bwd", "fmha", "nvjet", "hgemm"})) {
    return Units::kTensorCores;
  }
  if (has_any(name, {"dgemm", "double"})) return Units::kDouble;
  if (has_any(name, {"sgemm", "scudnn", "simt", "gcgemm", "<float", "_f32f32_"})) {
    return Units::kFloat;
  }
  return Units::kUnknown;
}

}  // namespace

KernelTraits traits_of(std::string_view kernel_name) {
  const std::string name = lower_case(kernel_name);
  KernelTraits traits;
  if (is_product(name)) {
    traits.work = KernelTraits::Work::kProduct;
    traits.units = units_of(name);
    traits.misaligned =
        traits.units == KernelTraits::Units::kTensorCores && says_alignment_below_four(name);
  } else if (is_bound_by_memory(name)) {
    traits.work = KernelTraits::Work::kMemory;
  }
  return traits;
}

}  // namespace unstarve::job
