#include "job/kernels/kernel_traits.h"

#include <gtest/gtest.h>

namespace unstarve::job {
namespace {

using Units = KernelTraits::Units;
using Work = KernelTraits::Work;

// Names as traces of real GPUs have them.
TEST(KernelTraits, ProductsTellTheirUnits) {
  const auto units = [](std::string_view name) {
    EXPECT_EQ(traits_of(name).work, Work::kProduct) << name;
    return traits_of(name).units;
  };
  EXPECT_EQ(units("ampere_sgemm_32x32_sliced1x4_tn"), Units::kFloat);
  EXPECT_EQ(units("volta_sgemm_64x64_nt"), Units::kFloat);
  EXPECT_EQ(units("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"), Units::kFloat);
  EXPECT_EQ(units("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)"),
            Units::kFloat);
  EXPECT_EQ(units("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw"),
            Units::kTensorCores);
  EXPECT_EQ(units("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>()"),
            Units::kTensorCores);
  EXPECT_EQ(units("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"),
            Units::kTensorCores);
  EXPECT_EQ(units("volta_h884gemm_64x64_ldg8_nn"), Units::kTensorCores);
  EXPECT_EQ(units("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>"), Units::kTensorCores);
  EXPECT_EQ(units("volta_dgemm_64x64_nn"), Units::kDouble);
  EXPECT_EQ(units("emulated cublasGemmEx"), Units::kUnknown);
}

TEST(KernelTraits, OfTensorCoresRowsMayBeginAnywhere) {
  EXPECT_TRUE(traits_of("cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align1").misaligned);
  EXPECT_TRUE(traits_of("cutlass_80_tensorop_s1688gemm_64x64_nn_align2>(int)").misaligned);
  EXPECT_FALSE(traits_of("cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4").misaligned);
  EXPECT_FALSE(traits_of("cutlass_tensorop_s16816gemm_align16").misaligned);
  EXPECT_FALSE(traits_of("cutlass_80_simt_sgemm_128x128_8x4_nn_align1").misaligned);
}

TEST(KernelTraits, WhatMovesMemoryIsTold) {
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()",
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)",
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::X>()",
        "triton_poi_fused_add_cos_sin_0"}) {
    EXPECT_EQ(traits_of(name).work, Work::kMemory) << name;
  }
}

TEST(KernelTraits, AnythingElseIsOther) {
  EXPECT_EQ(traits_of("").work, Work::kOther);
  EXPECT_EQ(traits_of("my_kernel").work, Work::kOther);
  EXPECT_EQ(traits_of("at::cuda::(anonymous namespace)::spin_kernel(long)").work, Work::kOther);
  EXPECT_EQ(traits_of("align").work, Work::kOther);
}

}  // namespace
}  // namespace unstarve::job
